import { randomUUID } from 'node:crypto';
import type { Readable, Writable } from 'node:stream';
import { isJsonObject, type Json, parseJson } from '../base/json.ts';
import { LineSplitter } from '../base/line-splitter.ts';
import { checkAt } from '../contract/border.ts';
import { CONTRACT_VERSION } from '../contract/version.ts';
import { type EnvelopeOf, SidecarEnvelope, type SidecarReceipt } from '../contract/work-orders/sidecar.ts';
import { normalTime } from '../contract/work-orders/sidecar-time.ts';
import type { EventDraft, Result, Sidecar, SidecarRun } from './definition.ts';

/** Where the lines of the protocol come from and go to. */
export interface Streams {
  readonly input: Readable;
  readonly output: Writable;
}

const MOST_LINE_BYTES = 64 * 1024 * 1024;

type Answer = { approve: boolean; reason: string | null };

/** The sidecar's side of one run. */
export class Session {
  /** Resolves when the end has been written. */
  readonly over: Promise<void>;
  readonly #sidecar: Sidecar;
  readonly #streams: Streams;
  readonly #stopped = new AbortController();
  readonly #asked = new Map<string, (answer: Answer) => void>();
  readonly #startedAt = now();
  #order: EnvelopeOf<'run'> | undefined;
  #ended = false;
  #finish: () => void = () => undefined;

  constructor(sidecar: Sidecar, streams: Streams) {
    this.#sidecar = sidecar;
    this.#streams = streams;
    this.over = new Promise((resolve) => {
      this.#finish = resolve;
    });
    const { id, version = null, capabilities, mode = 'mapped', extensions = [] } = sidecar;
    const backend = { id, backend_version: version, adapter_version: null };
    this.#write({ t: 'hello', contract_version: CONTRACT_VERSION, backend, capabilities, mode, extensions: [...extensions] });
    const lines = new LineSplitter((line) => this.#line(line), {
      mostBytes: MOST_LINE_BYTES,
      fault: (kind) => this.#end({ t: 'fatal', ref_id: null, error: `the control plane wrote a line that is ${kind}` }),
    });
    streams.input.on('data', (chunk: Buffer) => lines.push(chunk));
    // Nobody listens any more: the work is told to stop, and nothing else is waited for.
    streams.input.once('end', () => this.#deserted());
    streams.output.once('error', () => this.#deserted());
  }

  #deserted(): void {
    this.#stopped.abort(new Error('the control plane is gone'));
    if (this.#order === undefined || this.#streams.output.destroyed) this.#finish();
  }

  #line(line: string): void {
    if (line.trim() === '' || this.#ended) return;
    const parsed = parseJson(line);
    const checked = parsed.ok ? checkAt(SidecarEnvelope, parsed.value) : undefined;
    if (checked?.ok === true) this.#envelope(checked.value);
    else if (!parsed.ok || !isJsonObject(parsed.value)) this.#end({ t: 'fatal', ref_id: null, error: 'the control plane wrote no JSON' });
    else if (parsed.value.t === 'run') this.#end({ t: 'fatal', ref_id: idOf(parsed.value.id), error: 'the work order is not valid' });
    else note(`left out: an envelope ${String(parsed.value.t)} that this version does not know`);
  }

  #envelope(envelope: SidecarEnvelope): void {
    switch (envelope.t) {
      case 'run':
        if (this.#order !== undefined) note('left out: a second run; a sidecar serves one');
        else void this.#serve(envelope);
        break;
      case 'ping':
        this.#write({ t: 'pong', seq: envelope.seq });
        break;
      case 'cancel':
        this.#stopped.abort(new Error(envelope.reason ?? 'cancelled'));
        break;
      case 'approval':
        this.#asked.get(envelope.id)?.({ approve: envelope.approve, reason: envelope.reason });
        this.#asked.delete(envelope.id);
        break;
      default:
        // Lines that only a sidecar may write are ignored when the host sends them.
        break;
    }
  }

  async #serve(order: EnvelopeOf<'run'>): Promise<void> {
    this.#order = order;
    const { signal } = this.#stopped;
    try {
      const result = await this.#sidecar.run(order.work_order, this.#run(order));
      const cancelled = signal.aborted ? { outcome: 'partial' as const } : {};
      this.#end({ t: 'final', ref_id: order.id, receipt: this.#receipt(order, { ...result, ...cancelled }) });
    } catch (error) {
      const words = error instanceof Error ? error.message : String(error);
      this.#end({ t: 'fatal', ref_id: order.id, error: words, ...codeOf(error) });
    }
  }

  #run(order: EnvelopeOf<'run'>): SidecarRun {
    const asksFirst = order.extensions?.includes('tool_approval') === true;
    const send = (event: EventDraft, ext?: Readonly<Record<string, Json>>): void => {
      if (!this.#ended) this.#write({ t: 'event', ref_id: order.id, event: { ts: now(), ...event, ...(ext !== undefined && { ext }) } });
    };
    return {
      id: order.id,
      signal: this.#stopped.signal,
      asksFirst,
      send,
      delta: (text) => send({ type: 'assistant_delta', text }),
      message: (text) => send({ type: 'assistant_message', text }),
      warn: (message) => send({ type: 'warning', message }),
      approve: (tool) => (asksFirst ? this.#ask(order.id, tool) : Promise.resolve({ approve: true, reason: null })),
    };
  }

  /** A run that is stopped while it waits hears no. */
  async #ask(refId: string, { name, id, input }: Parameters<SidecarRun['approve']>[0]): Promise<Answer> {
    const asked = randomUUID();
    const { signal } = this.#stopped;
    return await new Promise<Answer>((resolve) => {
      this.#asked.set(asked, resolve);
      signal.addEventListener('abort', () => resolve({ approve: false, reason: 'the run was stopped' }), { once: true });
      this.#write({ t: 'approval_request', ref_id: refId, id: asked, tool_name: name, tool_use_id: id ?? null, input });
    });
  }

  #receipt({ id, work_order }: EnvelopeOf<'run'>, result: Result): SidecarReceipt {
    const { id: name, version = null, capabilities, mode = 'mapped' } = this.#sidecar;
    const finishedAt = now();
    const { outcome = 'complete', usage = {}, usageRaw = {}, artifacts = [], backendVersion = version } = result;
    return {
      meta: {
        run_id: id,
        work_order_id: work_order.id,
        contract_version: CONTRACT_VERSION,
        started_at: this.#startedAt,
        finished_at: finishedAt,
        duration_ms: Math.max(0, Date.parse(finishedAt) - Date.parse(this.#startedAt)),
      },
      backend: { id: name, backend_version: backendVersion, adapter_version: null },
      capabilities: Object.fromEntries(Object.entries(capabilities)),
      mode,
      usage_raw: usageRaw,
      usage: { ...NO_USAGE, ...usage },
      trace: [],
      artifacts: [...artifacts],
      verification: { git_diff: null, git_status: null, harness_ok: outcome === 'complete' },
      outcome,
      receipt_sha256: null,
    };
  }

  #end(envelope: object): void {
    if (this.#ended) return;
    this.#write(envelope);
    this.#ended = true;
    this.#streams.output.write('', () => this.#finish());
  }

  #write(envelope: object): void {
    this.#streams.output.write(`${JSON.stringify(envelope)}\n`);
  }
}

const NO_USAGE: SidecarReceipt['usage'] = {
  input_tokens: null,
  output_tokens: null,
  cache_read_tokens: null,
  cache_write_tokens: null,
  request_units: null,
  estimated_cost_usd: null,
};

/** For readers of the sidecar's log. */
function note(words: string): void {
  process.stderr.write(`${words}\n`);
}

function now(): string {
  return normalTime(new Date().toISOString());
}

function idOf(value: Json | undefined): string | null {
  return typeof value === 'string' ? value : null;
}

/** An error may say with a code of the contract what it is. */
function codeOf(error: unknown): Partial<Pick<EnvelopeOf<'fatal'>, 'error_code'>> {
  return error instanceof Error && 'errorCode' in error && typeof error.errorCode === 'string' ? { error_code: error.errorCode } : {};
}
