import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ChildProcess, startProcess } from '../../base/child-process.ts';
import { hyphenate, uuidv7Hex } from '../../base/ids.ts';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { parseShallow } from '../../base/json-limits.ts';
import type { LineFault } from '../../base/line-splitter.ts';
import { removeTree } from '../../base/paths/remove-tree.ts';
import { checkAt } from '../../contract/border.ts';
import { newRunId } from '../../contract/run-id.ts';
import { CONTRACT_VERSION } from '../../contract/version.ts';
import { type EnvelopeOf, SidecarEnvelope, splitCapabilities } from '../../contract/work-orders/sidecar.ts';
import { workOrder } from '../../contract/work-orders/work-order.ts';
import { RUN_MARK } from '../runs/process/environment.ts';
import { endLeftovers } from '../runs/process/run-folder.ts';
import { FloodGauge, MOST_LINE_BYTES, majorOf } from './dialogue.ts';
import { tellingLine } from './greet.ts';

/** One thing that was tried on a sidecar. */
export interface SidecarFinding {
  readonly name: string;
  /** `warning`: the contract does not ask for it, and it would be better so. */
  readonly result: 'passed' | 'failed' | 'warning';
  readonly detail: string;
}

export interface SidecarCheck {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly handshakeMs: number;
  /** How long one run of a trivial order may take. */
  readonly runMs: number;
  /** The task that the sidecar is given. */
  readonly task: string;
}

const CANCEL_MS = 5000;
const LEAVE_MS = 2000;

interface Heard {
  readonly envelope?: SidecarEnvelope;
  readonly fault?: string;
}

/** A conversation with a sidecar in which nothing is taken for granted. */
class Talk {
  readonly heard: Heard[] = [];
  readonly child: ChildProcess;
  #wake: () => void = () => undefined;
  readonly #flood = new FloodGauge();
  #gone = false;
  /** Why it was ended at once, as a run would be: it writes without an end, and would be read for as long as it may run. */
  excess: string | undefined;
  /** How it ended; undefined while it runs. */
  ended: string | undefined;

  private constructor(start: (talk: { line(text: string): void; fault(kind: LineFault): void }) => ChildProcess) {
    this.child = start({ line: (text) => this.#line(text), fault: (kind) => this.#fault(kind) });
    void this.child.exit.then(({ code, signal }) => {
      this.#gone = true;
      this.ended = signal === null ? `it ended with exit code ${code}` : `it ended by ${signal}`;
      this.#wake();
    });
  }

  static async open({ command, env }: SidecarCheck, cwd: string): Promise<Talk> {
    const [file = '', ...args] = command;
    let hear: { line(text: string): void; fault(kind: LineFault): void } | undefined;
    const early: ((to: NonNullable<typeof hear>) => void)[] = [];
    const give = (one: (to: NonNullable<typeof hear>) => void): void => void (hear === undefined ? early.push(one) : one(hear));
    const lines = { mostBytes: MOST_LINE_BYTES, fault: (kind: LineFault) => give((to) => to.fault(kind)) };
    const child = await startProcess({ command: file, args, env, cwd, stdin: 'open', mode: 'pipe', lines }, (line, source) => {
      if (source === 'stdout') give((to) => to.line(line));
    });
    return new Talk((to) => {
      hear = to;
      for (const one of early) one(to);
      return child;
    });
  }

  say(envelope: JsonObject): void {
    this.child.write(`${JSON.stringify(envelope)}\n`);
  }

  /** Waits until something heard satisfies the wish; undefined when time or the process is over. */
  async until(wish: (heard: readonly Heard[]) => boolean, ms: number): Promise<boolean> {
    const deadline = performance.now() + ms;
    while (!wish(this.heard)) {
      const left = deadline - performance.now();
      if (left <= 0 || this.#gone) return wish(this.heard);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    return true;
  }

  /** Whether it ends by itself when nobody talks to it any more; it is ended where it does not. */
  async leave(): Promise<boolean> {
    this.child.closeInput();
    let forced = false;
    const timer = setTimeout(() => {
      forced = true;
      this.child.signal('SIGKILL');
    }, LEAVE_MS);
    await this.child.exit;
    clearTimeout(timer);
    return !forced;
  }

  #line(text: string): void {
    if (this.excess !== undefined) return;
    const flood = this.#flood.add(text);
    if (flood !== undefined) this.#exceed(flood);
    else if (text.trim() !== '') this.#take(heardIn(text));
  }

  #fault(kind: LineFault): void {
    if (this.excess !== undefined) return;
    this.#take({ fault: `a line that is ${kind}` });
    if (kind === 'too-long') this.#exceed(`it wrote a line of more than ${MOST_LINE_BYTES} bytes`);
  }

  #exceed(why: string): void {
    this.excess = why;
    this.#gone = true;
    this.child.signal('SIGKILL');
    this.#wake();
  }

  #take(heard: Heard): void {
    this.heard.push(heard);
    this.#wake();
  }
}

function heardIn(text: string): Heard {
  const parsed = parseShallow(text);
  if (!parsed.ok || !isJsonObject(parsed.value)) return { fault: `a line that is no JSON object: ${text.slice(0, 60)}` };
  const checked = checkAt(SidecarEnvelope, parsed.value);
  if (checked.ok) return { envelope: checked.value };
  const [first] = checked.complaints;
  return { fault: `an envelope ${String(parsed.value.t)} that is not valid: ${first?.path ?? ''}: ${first?.message ?? ''}` };
}

const isEnd = ({ envelope }: Heard): boolean => envelope?.t === 'final' || envelope?.t === 'fatal';

/** Tries a sidecar on everything that the contract asks of it. */
export async function checkSidecar(check: SidecarCheck): Promise<readonly SidecarFinding[]> {
  const folder = mkdtempSync(join(tmpdir(), 'abp-sidecar-check-'));
  const visit = newRunId();
  const marked = { ...check, env: { ...check.env, [RUN_MARK]: visit } };
  writeFileSync(join(folder, 'README.md'), '# A folder for trying a sidecar\n');
  try {
    const hello = await tryHello(marked, folder);
    if (hello.some(({ result }) => result === 'failed')) return hello;
    const worked = [...hello, ...(await tryRun(marked, folder)), ...(await tryCancel(marked, folder))];
    const left = endLeftovers(visit);
    return [...worked, advice('it leaves no process behind', left === 0, left === 0 ? 'none' : `${left}, which were ended`)];
  } finally {
    endLeftovers(visit);
    removeTree(folder);
  }
}

const finding = (name: string, passed: boolean, detail: string): SidecarFinding => ({ name, result: passed ? 'passed' : 'failed', detail });
const advice = (name: string, passed: boolean, detail: string): SidecarFinding => ({ name, result: passed ? 'passed' : 'warning', detail });

async function tryHello(check: SidecarCheck, folder: string): Promise<SidecarFinding[]> {
  const talk = await Talk.open(check, folder).catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))));
  if (talk instanceof Error) return [finding('it starts', false, talk.message)];
  const began = performance.now();
  await talk.until((heard) => heard.length > 0, check.handshakeMs);
  const took = Math.round(performance.now() - began);
  const [first] = talk.heard;
  const hello = first?.envelope?.t === 'hello' ? first.envelope : undefined;
  const why =
    first?.fault ?? (first === undefined ? (talk.ended ?? `nothing within ${check.handshakeMs} ms`) : `${first.envelope?.t} came first`);
  if (hello !== undefined) talk.say({ t: 'ping', seq: 1 });
  const answered = hello !== undefined && (await talk.until((heard) => heard.some(({ envelope }) => envelope?.t === 'pong'), 2000));
  const left = await talk.leave();
  if (hello === undefined) return [finding('it says hello first', false, `${why}${wordsOf(talk)}`)];
  const { manifest, unknown } = splitCapabilities(hello.capabilities);
  return [
    finding('it says hello first', true, `after ${took} ms, as ${hello.backend.id}, with ${Object.keys(manifest).length} capabilities`),
    finding('it speaks the contract', majorOf(hello.contract_version) === majorOf(CONTRACT_VERSION), hello.contract_version),
    advice('its capabilities are known', unknown.length === 0, unknown.length === 0 ? 'all of them' : `not known: ${unknown.join(', ')}`),
    advice('it answers a ping', answered, answered ? 'pong' : 'no pong within 2 s; a silent run of it will be taken for dead'),
    endFinding('it ends when its input ends', talk, left),
  ];
}

/** How it left. Of one that had to be ended for what it wrote nobody has seen that. */
function endFinding(name: string, { excess }: Talk, left: boolean): SidecarFinding {
  if (excess !== undefined) return finding('it keeps to the limits', false, `${excess}, and was ended`);
  return advice(name, left, left ? 'by itself' : `it was ended after ${LEAVE_MS} ms`);
}

function wordsOf({ child }: Talk): string {
  const words = tellingLine(child.stderr);
  return words === '' ? '' : `; it wrote to its standard error: ${words}`;
}

async function begun(check: SidecarCheck, folder: string): Promise<{ talk: Talk; id: string }> {
  const talk = await Talk.open(check, folder);
  await talk.until((heard) => heard.length > 0, check.handshakeMs);
  const id = hyphenate(uuidv7Hex());
  const order = workOrder(check.task).lane('workspace_first').workspace({ root: folder, mode: 'pass_through' }).build();
  // A work order is JSON by its schema.
  talk.say({ t: 'run', id, work_order: order as unknown as JsonObject });
  return { talk, id };
}

async function tryRun(check: SidecarCheck, folder: string): Promise<SidecarFinding[]> {
  const { talk, id } = await begun(check, folder);
  const ended = await talk.until((heard) => heard.some(isEnd), check.runMs);
  const left = await talk.leave();
  const faults = talk.heard.flatMap(({ fault }) => fault ?? []);
  const refs = talk.heard.flatMap(({ envelope }) => (envelope?.t === 'event' || envelope?.t === 'final' ? [envelope.ref_id] : []));
  const at = talk.heard.findIndex(isEnd);
  const after = at === -1 ? 0 : talk.heard.length - at - 1;
  const end = talk.heard[at]?.envelope;
  return [
    finding(
      'it ends a run with final or fatal',
      ended,
      ended ? String(end?.t) : `neither ${talk.excess === undefined ? `within ${check.runMs} ms` : 'before it was ended'}${wordsOf(talk)}`,
    ),
    finding('every line is an envelope', faults.length === 0, faults[0] ?? `${talk.heard.length} lines`),
    finding(
      'every line names the run',
      refs.every((ref) => ref === id),
      refs.find((ref) => ref !== id) ?? `${refs.length} of ${refs.length}`,
    ),
    finding('nothing follows its end', after === 0, after === 0 ? 'nothing' : `${after} lines`),
    ...(end?.t === 'final' ? [receiptFinding(end, id)] : []),
    endFinding('it leaves after its end', talk, left),
  ];
}

function receiptFinding({ receipt }: EnvelopeOf<'final'>, id: string): SidecarFinding {
  const right = receipt.meta.run_id === id;
  return finding('its receipt is of this run', right, right ? `outcome ${receipt.outcome}` : `it names ${receipt.meta.run_id}`);
}

async function tryCancel(check: SidecarCheck, folder: string): Promise<SidecarFinding[]> {
  const { talk, id } = await begun({ ...check, task: 'wait 20000 ms' }, folder);
  talk.say({ t: 'cancel', ref_id: id, reason: 'to see whether it stops' });
  const began = performance.now();
  const stopped = await talk.until((heard) => heard.some(isEnd), CANCEL_MS);
  const took = Math.round(performance.now() - began);
  await talk.leave();
  const detail = stopped
    ? `it ended after ${took} ms`
    : `it went on for ${CANCEL_MS} ms; a run of it that is cancelled is ended by a signal`;
  return [advice('it stops when it is cancelled', stopped, detail)];
}
