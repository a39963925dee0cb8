import type { Command, Dialogue, EventDraft, Heard, Outcome, ProcessExit } from '../../adapters/adapter.ts';
import { type Clock, systemClock } from '../../base/clock.ts';
import { isJsonObject, type Json } from '../../base/json.ts';
import { jsonExcess, MOST_LEVELS, mayHoldMore, parseShallow, tooDeep } from '../../base/json-limits.ts';
import type { LineFault } from '../../base/line-splitter.ts';
import { checkAt } from '../../contract/border.ts';
import type { AbpError } from '../../contract/errors.ts';
import type { RunErrorCode } from '../../contract/runs/run-error-table.ts';
import { CONTRACT_VERSION } from '../../contract/version.ts';
import { type EnvelopeOf, SidecarEnvelope, SidecarEvent, splitCapabilities } from '../../contract/work-orders/sidecar.ts';
import type { WorkOrder } from '../../contract/work-orders/work-order.ts';
import { accountOf, type FinalAccount, noEnvelope, notValid, shortened } from './finals.ts';
import { isSlow, readAside } from './slow-finals.ts';
import { SidecarTranslator } from './translate.ts';

/** Limits of one line and of one run. */
export const MOST_LINE_BYTES = 10 * 1024 * 1024;
export const MOST_LINES = 100_000;
const MOST_RUN_BYTES = 256 * 1024 * 1024;
/** Lines shorter than this are read however many values they hold. */
const LONG_LINE = 256 * 1024;
const MOST_VALUES = 50_000;
/** A hello names capabilities, of which there are some dozens. */
const HELLO_LIMITS = { depth: 100, values: 3000 };
/** Bytes that a sidecar may write behind its final while that is read. It has nothing to say then but answers to pings. */
const MOST_BEHIND = 1024 * 1024;
/** Where the kind of an envelope stands, whether its members are sorted or not. */
const NEAR = 256;
const FINAL = /"t" ?: ?"final"/;
/** Pings in a row that may stay without any answer. */
const MOST_MISSED = 3;

export interface SidecarTimes {
  /** How long its hello may take. */
  readonly handshakeMs: number;
  /** After this much silence it is asked whether it is there; 0 never asks. */
  readonly heartbeatMs: number;
}

export const SIDECAR_TIMES: SidecarTimes = { handshakeMs: 10_000, heartbeatMs: 30_000 };

/** One run of a sidecar. */
export interface SidecarTask {
  /** The run as a UUID, which every line of the sidecar about it must name. */
  readonly refId: string;
  readonly order: WorkOrder;
  readonly cwd: string;
  readonly times: SidecarTimes;
  /** The caller decides on tool calls before they run. */
  readonly watched: boolean;
  /** Judges the sidecar's hello before it gets the run; returns an error where the hello does not meet the requirements. */
  greeted(hello: EnvelopeOf<'hello'>): AbpError | undefined;
}

type Envelope = SidecarEnvelope['t'];
const KNOWN: ReadonlySet<string> = new Set<Envelope>([
  ...(['hello', 'run', 'event', 'final', 'fatal', 'cancel', 'ping', 'pong', 'approval_request', 'approval'] as const),
]);
const OF_CONTROL_PLANES: ReadonlySet<string> = new Set<Envelope>(['run', 'cancel', 'approval']);
const EVENT_KINDS: ReadonlySet<string> = new Set(SidecarEvent.options.map((option) => option.shape.type.value));

/** Counts what a sidecar writes in one run, lines without a word in them too. */
export class FloodGauge {
  #lines = 0;
  #bytes = 0;

  /** Why it is too much with this line; undefined while it is not. */
  add(line: string): string | undefined {
    this.#lines += 1;
    this.#bytes += line.length;
    const isFlood = this.#lines > MOST_LINES || this.#bytes > MOST_RUN_BYTES;
    return isFlood ? `it wrote more than ${MOST_LINES} lines or ${MOST_RUN_BYTES} bytes in one run` : undefined;
  }
}

/** Holds one run with a sidecar: hello, run, events, final or fatal, one JSON object per line. */
export class SidecarDialogue implements Dialogue {
  readonly strict = { mostBytes: MOST_LINE_BYTES, fault: (kind: LineFault): Heard => this.#notALine(kind) };
  readonly watch: { readonly everyMs: number; look(): Heard };
  readonly #task: SidecarTask;
  readonly #clock: Clock;
  readonly #translator: SidecarTranslator;
  #state: 'greeting' | 'working' | 'ended' = 'greeting';
  #outcome: Outcome | undefined;
  #since: number;
  #pings = 0;
  #missed = 0;
  readonly #flood = new FloodGauge();
  /** Lines that came while a final is read on another thread; undefined while none is. */
  #behind: string[] | undefined;
  #kept = 0;

  constructor(task: SidecarTask, clock: Clock = systemClock) {
    this.#task = task;
    this.#clock = clock;
    this.#translator = new SidecarTranslator(task.cwd);
    this.#since = clock.now();
    const { handshakeMs, heartbeatMs } = task.times;
    const soonest = Math.min(handshakeMs, heartbeatMs === 0 ? handshakeMs : heartbeatMs);
    this.watch = { everyMs: Math.max(20, Math.min(1000, soonest / 4)), look: () => this.#look() };
  }

  /** Nothing is said before its hello. */
  begin(): readonly string[] {
    this.#since = this.#clock.now();
    return [];
  }

  line(text: string): Heard {
    this.#since = this.#clock.now();
    this.#missed = 0;
    if (this.#outcome?.broken === true) return NOTHING;
    const flood = this.#flood.add(text);
    if (flood !== undefined) return this.#broken('PROTOCOL_UNEXPECTED_MESSAGE', flood);
    if (text.trim() === '') return NOTHING;
    return this.#behind === undefined ? this.#read(text) : this.#keep(this.#behind, text);
  }

  #read(text: string): Heard {
    const isFinal = this.#state === 'working' && (FINAL.test(text.slice(0, NEAR)) || FINAL.test(text.slice(-NEAR)));
    return isFinal && isSlow(text) ? { events: [], later: this.#readAside(text) } : this.#readAtOnce(text);
  }

  #readAtOnce(text: string): Heard {
    const excess = this.#state === 'greeting' ? helloExcess(text) : lineExcess(text);
    if (excess !== undefined) return this.#invalid(`it wrote a line that cannot be read at once: ${excess}`);
    const parsed = parseShallow(text);
    if (!parsed.ok || !isJsonObject(parsed.value) || typeof parsed.value.t !== 'string') return this.#invalid(noEnvelope(text));
    const { t } = parsed.value;
    if (this.#state === 'greeting' && t !== 'hello' && t !== 'fatal') return this.#invalid(`it began with ${t} instead of hello`);
    // The answer to a ping that crossed its end.
    if (this.#state === 'ended' && t === 'pong') return NOTHING;
    if (this.#state === 'ended') return this.#broken('PROTOCOL_UNEXPECTED_MESSAGE', `it wrote ${t} after its end`);
    if (!KNOWN.has(t)) return remark(`the sidecar wrote an envelope ${t}, which this version does not know; it is left out`);
    // Before they are checked: whatever they hold, they are wrong here.
    if (t === 'hello' && this.#state !== 'greeting') return this.#broken('PROTOCOL_UNEXPECTED_MESSAGE', 'it wrote a second hello');
    if (OF_CONTROL_PLANES.has(t)) {
      return this.#broken('PROTOCOL_UNEXPECTED_MESSAGE', `it wrote ${t}, which only a control plane writes`);
    }
    return this.#checked(parsed.value, text);
  }

  /** The final has all that was said in the run. While another thread reads it, this one serves everybody else. */
  async #readAside(text: string): Promise<Heard> {
    this.#behind = [];
    this.#kept = 0;
    const read = await readAside(this.#task.refId, text);
    const behind = this.#behind;
    this.#behind = undefined;
    if (this.#outcome?.broken === true) return NOTHING;
    const first = read.kind === 'final' ? this.#ofFinal(read.account) : read.kind === 'invalid' ? this.#invalid(read.reason) : undefined;
    return together([first ?? this.#readAtOnce(text), ...behind.map((line) => this.#next(line))]);
  }

  #next(text: string): Heard {
    if (this.#outcome?.broken === true) return NOTHING;
    return this.#behind === undefined ? this.#read(text) : this.#keep(this.#behind, text);
  }

  #keep(behind: string[], text: string): Heard {
    behind.push(text);
    this.#kept += text.length;
    return this.#kept <= MOST_BEHIND
      ? NOTHING
      : this.#broken('PROTOCOL_UNEXPECTED_MESSAGE', `it wrote more than ${MOST_BEHIND} characters behind its final`);
  }

  say(command: Command): readonly string[] | undefined {
    if (command.kind !== 'let' && command.kind !== 'stop') return undefined;
    const reason = command.kind === 'stop' ? command.reason : null;
    return [this.#write({ t: 'approval', id: command.waitId, approve: command.kind === 'let', reason })];
  }

  cancel(): readonly string[] {
    return this.#state === 'working' ? [this.#write({ t: 'cancel', reason: 'the run was cancelled' })] : [];
  }

  end(exit: ProcessExit): { readonly events: readonly EventDraft[]; readonly outcome: Outcome } {
    return { events: this.#translator.end(), outcome: this.#outcome ?? this.#death(exit) };
  }

  #checked(value: Json, line: string): Heard {
    const checked = checkAt(SidecarEnvelope, value);
    if (checked.ok) return this.#envelope(checked.value, line);
    const kind = unknownEvent(value);
    if (kind !== undefined) return remark(`the sidecar wrote an event ${kind}, which this version does not know; it is left out`);
    return this.#invalid(notValid(checked.complaints));
  }

  #envelope(envelope: SidecarEnvelope, line: string): Heard {
    switch (envelope.t) {
      case 'hello':
        return this.#hello(envelope);
      case 'ping':
        return { events: [], send: [JSON.stringify({ t: 'pong', seq: envelope.seq })] };
      case 'pong':
        return NOTHING;
      case 'fatal':
        return this.#fatal(envelope);
      case 'run':
      case 'cancel':
      case 'approval':
        // They were refused before they were checked.
        return NOTHING;
      default:
        if (envelope.ref_id !== this.#task.refId) return remark(`the sidecar wrote ${envelope.t} of another run; it is left out`);
        return this.#ofRun(envelope, line);
    }
  }

  #ofRun(envelope: EnvelopeOf<'event' | 'final' | 'approval_request'>, line: string): Heard {
    switch (envelope.t) {
      case 'event':
        return { events: this.#translator.read(envelope.event) };
      case 'final':
        return this.#final(accountOf(envelope, line));
      case 'approval_request': {
        const { id, tool_name: toolName, tool_use_id, input } = envelope;
        return { events: [], waiting: [{ waitId: id, toolName, input, ...(tool_use_id !== null && { toolCallId: tool_use_id }) }] };
      }
    }
  }

  #hello(hello: EnvelopeOf<'hello'>): Heard {
    const version = hello.contract_version;
    if (majorOf(version) !== majorOf(CONTRACT_VERSION)) {
      return this.#broken('PROTOCOL_VERSION_MISMATCH', `it speaks ${shortened(version)}, and this backplane ${CONTRACT_VERSION}`);
    }
    const refusal = this.#task.greeted(hello);
    if (refusal !== undefined) return this.#ended({ ok: false, code: refusal.code, message: refusal.message, broken: true });
    this.#state = 'working';
    const { order, cwd, refId, watched } = this.#task;
    const sent = { ...order, workspace: { ...order.workspace, root: cwd } };
    const { unknown } = splitCapabilities(hello.capabilities);
    const events = unknown.length === 0 ? [] : remark(`the sidecar offers capabilities that are not known: ${unknown.join(', ')}`).events;
    return { events, send: [JSON.stringify({ t: 'run', id: refId, work_order: sent, ...(watched && { extensions: ['tool_approval'] }) })] };
  }

  #ofFinal(account: FinalAccount): Heard {
    return account.refId === this.#task.refId ? this.#final(account) : remark('the sidecar wrote final of another run; it is left out');
  }

  #final({ outcome, usage, artifacts, receiptSha256, found }: FinalAccount): Heard {
    this.#state = 'ended';
    const told = found && { artifacts, receipt: { ...found, receipt_sha256: receiptSha256, outcome } };
    this.#outcome = {
      ...(outcome === 'complete' ? { ok: true } : { ok: false, code: 'SIDECAR_FAILED', message: `The sidecar ended ${outcome}.` }),
      ...(told !== undefined && { told }),
    };
    const forged =
      found?.verified === false ? remark('the hash in the receipt of the sidecar is wrong; the receipt of the run says so').events : [];
    const { input_tokens: inputTokens, output_tokens: outputTokens, cache_read_tokens: cachedTokens } = usage;
    const counted = inputTokens !== null || outputTokens !== null;
    const tokens = { inputTokens: inputTokens ?? 0, outputTokens: outputTokens ?? 0 };
    return {
      events: [
        ...forged,
        ...this.#translator.end(),
        ...(counted ? [{ type: 'token_usage', ...tokens, ...(cachedTokens !== null && { cachedTokens }) } as const] : []),
        ...(usage.estimated_cost_usd === null ? [] : [{ type: 'cost', cost: { totalUsd: usage.estimated_cost_usd, ...tokens } } as const]),
      ],
      done: true,
    };
  }

  #fatal({ ref_id, error, error_code }: EnvelopeOf<'fatal'>): Heard {
    if (ref_id !== null && ref_id !== this.#task.refId) return remark('the sidecar wrote fatal of another run; it is left out');
    this.#state = 'ended';
    const message = `The sidecar gave up: ${error}${error_code === undefined ? '' : ` (${error_code})`}`;
    this.#outcome = { ok: false, code: 'SIDECAR_FAILED', message };
    return { events: this.#translator.end(), done: true };
  }

  #look(): Heard {
    const { handshakeMs, heartbeatMs } = this.#task.times;
    const silence = this.#clock.now() - this.#since;
    if (this.#state === 'greeting') {
      return silence < handshakeMs ? NOTHING : this.#broken('PROTOCOL_HANDSHAKE_FAILED', `it said no hello within ${handshakeMs} ms`);
    }
    if (this.#state === 'ended' || heartbeatMs === 0 || silence < heartbeatMs * (this.#missed + 1)) return NOTHING;
    if (this.#missed >= MOST_MISSED) {
      return this.#broken('INACTIVITY_TIMEOUT', `it was silent for ${silence} ms and answered none of ${MOST_MISSED} pings`);
    }
    this.#missed += 1;
    this.#pings += 1;
    return { events: [], send: [JSON.stringify({ t: 'ping', seq: this.#pings })] };
  }

  #notALine(kind: LineFault): Heard {
    return this.#invalid(
      kind === 'too-long' ? `it wrote a line of more than ${MOST_LINE_BYTES} bytes` : 'it wrote bytes that are not UTF-8',
    );
  }

  /** A line that is no envelope. Before the hello, the handshake has failed by it; later, the protocol is broken. */
  #invalid(reason: string): Heard {
    return this.#broken(this.#state === 'greeting' ? 'PROTOCOL_HANDSHAKE_FAILED' : 'PROTOCOL_INVALID_ENVELOPE', reason);
  }

  /** The first fault is the one that counts. */
  #broken(code: RunErrorCode, reason: string): Heard {
    if (this.#outcome?.broken === true) return NOTHING;
    return this.#ended({ ok: false, code, message: `The sidecar broke the protocol: ${reason}.`, broken: true });
  }

  #ended(outcome: Outcome): Heard {
    this.#state = 'ended';
    this.#outcome = outcome;
    return { events: [], broken: true };
  }

  #death({ code, signal }: ProcessExit): Outcome {
    const how = signal === null ? `with exit code ${code}` : `by ${signal}`;
    return this.#state === 'greeting'
      ? { ok: false, code: 'PROTOCOL_HANDSHAKE_FAILED', message: `The sidecar ended ${how} before its hello.`, broken: true }
      : { ok: false, code: 'AGENT_CRASH', message: `The sidecar ended ${how} without final or fatal.` };
  }

  #write(envelope: { readonly t: 'approval' | 'cancel'; readonly [member: string]: Json }): string {
    return JSON.stringify({ ref_id: this.#task.refId, ...envelope });
  }
}

const NOTHING: Heard = { events: [] };

function remark(message: string): Heard {
  return { events: [{ type: 'debug', level: 'warn', message }] };
}

/** `abp/v0.1` is 0; undefined for anything else. */
export function majorOf(version: string): string | undefined {
  return /^abp\/v(\d{1,9})\.\d{1,9}$/.exec(version)?.[1];
}

/** The kind of an event that a later version has added; undefined where the envelope is wrong in another way. */
function unknownEvent(value: Json): string | undefined {
  if (!isJsonObject(value) || value.t !== 'event' || !isJsonObject(value.event)) return undefined;
  const { type } = value.event;
  return typeof type === 'string' && !EVENT_KINDS.has(type) ? type : undefined;
}

/** Why a line would hold up the server while it is read, or end it. */
function lineExcess(text: string): string | undefined {
  const excess = tooDeep(text);
  if (excess !== undefined || text.length < LONG_LINE || !mayHoldMore(Buffer.from(text), MOST_VALUES)) return excess;
  return jsonExcess(text, { depth: MOST_LEVELS, values: MOST_VALUES });
}

/** The same for the first line, of which little is expected. */
export function helloExcess(text: string): string | undefined {
  return mayHoldMore(Buffer.from(text), HELLO_LIMITS.values) ? jsonExcess(text, HELLO_LIMITS) : undefined;
}

/** Joins what several lines said, because their reader takes one. */
function together(all: readonly Heard[]): Heard {
  const later = all.find((one) => one.later !== undefined)?.later;
  return {
    events: all.flatMap(({ events }) => events),
    send: all.flatMap(({ send = [] }) => send),
    waiting: all.flatMap(({ waiting = [] }) => waiting),
    done: all.some(({ done }) => done === true),
    broken: all.some(({ broken }) => broken === true),
    ...(later !== undefined && { later }),
  };
}
