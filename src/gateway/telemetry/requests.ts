import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RunId } from '../../contract/run-id.ts';
import type { CloseFact } from '../../receipts/journal/facts.ts';
import type { Principal } from '../auth/principal.ts';
import { OTHER, outcomeOf } from './call-counts.ts';
import { durationOf, type RunWatcher, type SeenRun } from './run-watch.ts';

/** Which part of the server answered; `refused` where the door let the request in nowhere. */
type Surface = 'vendor' | 'raw' | 'control' | 'refused';

/** A request on its way. The door says what it learns of it. */
export interface SeenRequest {
  surface: Surface;
  principal: Principal | undefined;
}

interface Ended extends SeenRequest {
  readonly run: RunId;
  readonly method: string;
  readonly url: string;
  readonly status: number;
  readonly ms: number;
  readonly at: number;
}

interface EndedCall {
  readonly run: SeenRun;
  readonly end: Pick<CloseFact, 'status' | 'reason' | 'at' | 'firstByteMs' | 'usage' | 'upstreamModel'> & { readonly code: string | null };
  readonly ms: number;
  readonly trace: string | undefined;
  rounds: number;
}

/** Lines gather this long before they are written together. */
const GATHER_MS = 200;
/** How often the end of a call is held back for the end of its request, which comes a moment later. */
const ROUNDS = 5;
/** Asked by machines every few seconds; a line for each would bury the rest. */
const PROBES: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics']);
/** Beyond this many lines that wait, the oldest are written at once. */
const MOST_WAITING = 10_000;

/** Where lines of the request log go: several whole lines at a time. */
export type LineSink = (lines: string) => void;

/** Counts HTTP requests and, where it is wanted, writes a line of JSON for each, and for each call that no request of HTTP made. */
export class Requests implements RunWatcher {
  /** By surface and class of the status. */
  readonly counts = new Map<string, number>();
  readonly #write: LineSink | undefined;
  readonly #traceOf: (run: RunId) => string | undefined;
  #requests: Ended[] = [];
  readonly #calls = new Map<RunId, EndedCall>();
  #timer: NodeJS.Timeout | undefined;

  /** `traceOf`: the trace that a run belongs to. */
  constructor(write: LineSink | undefined, traceOf: (run: RunId) => string | undefined) {
    this.#write = write;
    this.#traceOf = traceOf;
  }

  arrived(run: RunId, request: IncomingMessage, response: ServerResponse): SeenRequest {
    const seen: SeenRequest = { surface: 'refused', principal: undefined };
    const started = performance.now();
    const { url = '/', method = 'GET' } = request;
    response.once('close', () => {
      const { statusCode: status } = response;
      const key = `${seen.surface}|${CLASSES[Math.floor(status / 100)] ?? OTHER}`;
      this.counts.set(key, (this.counts.get(key) ?? 0) + 1);
      if (this.#write === undefined) return;
      this.#requests.push({ ...seen, run, method, url, status, ms: performance.now() - started, at: Date.now() });
      this.#schedule();
    });
    return seen;
  }

  ended(run: SeenRun, end: CloseFact): void {
    if (this.#write === undefined) return;
    const { status, reason, at, firstByteMs, usage, upstreamModel, error } = end;
    const told = { status, reason, at, firstByteMs, usage, upstreamModel, code: error?.code ?? null };
    this.#calls.set(run.run, { run, end: told, ms: durationOf(run, end), trace: this.#traceOf(run.run), rounds: 0 });
    this.#schedule();
  }

  /** Writes everything that is known. */
  close(): void {
    clearTimeout(this.#timer);
    this.#flush(true);
  }

  #schedule(): void {
    if (this.#requests.length + this.#calls.size > MOST_WAITING) this.close();
    else if (this.#timer === undefined) this.#timer = setTimeout(() => this.#flush(false), GATHER_MS).unref();
  }

  #flush(all: boolean): void {
    this.#timer = undefined;
    let lines = '';
    const requests = this.#requests;
    this.#requests = [];
    for (const request of requests) {
      const call = this.#calls.get(request.run);
      this.#calls.delete(request.run);
      if (request.surface !== 'control' || !PROBES.has(request.url.split('?', 1)[0] ?? '')) lines += requestLine(request, call);
    }
    for (const [run, call] of this.#calls) {
      call.rounds += 1;
      // The calls of turns belong to no request, and neither do runs that outlive the one that asked for them.
      if (!all && call.run.plane === 'gateway' && call.rounds < ROUNDS) continue;
      this.#calls.delete(run);
      lines += callLine(call);
    }
    if (lines !== '') this.#write?.(lines);
    if (this.#calls.size > 0) this.#schedule();
  }
}

const CLASSES: readonly (string | undefined)[] = [undefined, '1xx', '2xx', '3xx', '4xx', '5xx'];
const INFO = 30;

function requestLine({ run, method, url, status, ms, at, surface, principal }: Ended, call: EndedCall | undefined): string {
  return line(at, {
    msg: 'request',
    run_id: run,
    surface,
    method,
    path: pathOf(url),
    status,
    ms: round(ms),
    caller: callerOf(principal),
    ...(call === undefined ? {} : callMembers(call)),
  });
}

function callLine(call: EndedCall): string {
  const { run, ms, end } = call;
  return line(end.at, { msg: 'call', run_id: run.run, task: run.task, ms: round(ms), caller: run.keyId, ...callMembers(call) });
}

function callMembers({ run, end, trace }: EndedCall): object {
  return {
    plane: run.plane,
    outcome: outcomeOf(end),
    ...(end.code === null ? {} : { error: end.code }),
    backend: run.backend,
    dialect: run.dialect,
    model: end.upstreamModel ?? run.model,
    mode: run.mode,
    ...(end.firstByteMs === null ? {} : { first_byte_ms: round(end.firstByteMs) }),
    ...(end.usage === null ? {} : { input_tokens: end.usage.input_tokens, output_tokens: end.usage.output_tokens }),
    ...(trace === undefined ? {} : { trace_id: trace }),
    ...(run.parent === null ? {} : { parent_run_id: run.parent }),
    ...(run.tags.length === 0 ? {} : { tags: run.tags }),
  };
}

function line(time: number, members: object): string {
  return `${JSON.stringify({ level: INFO, time, ...members })}\n`;
}

/** The path without what it may hold of secrets: the key before it, the query behind it. */
function pathOf(url: string): string {
  const [path = '/'] = url.split('?', 1);
  return path.replace(/^\/k\/[^/]+/, '/k/…');
}

function callerOf(principal: Principal | undefined): string | null {
  if (principal === undefined) return null;
  return principal.kind === 'key' ? principal.key.id : principal.kind;
}

function round(ms: number): number {
  return Math.round(ms * 10) / 10;
}
