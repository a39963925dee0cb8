import type { AbpError } from '../../contract/errors.ts';
import type { Answer } from '../answers/answer.ts';
import type { Deployment } from '../deployment.ts';
import type { Recorder } from '../recorder.ts';
import type { CachePlace } from './cacheable.ts';
import type { KeptResponse } from './kept-response.ts';
import type { ResponseCache } from './response-cache.ts';

/** Tells the caller whether its answer was asked for before. */
const CACHE_HEADER = 'X-ABP-Cache';

/** The place where an answer is to be kept, and who knows whether it was a good one. */
export interface Keeping {
  readonly cache: ResponseCache;
  readonly place: CachePlace;
  readonly recorder: Recorder;
  /** The engine that the place is of: the answer of a fallback is not kept in it. */
  readonly engine: string;
}

/** An answer on its way to the caller, which is kept where it comes to a good end. */
export class KeptAnswer implements Answer {
  readonly #answer: Answer;
  readonly #keeping: Keeping | undefined;
  #status = 0;
  #headers: readonly string[] = [];
  /** Undefined once it is clear that it will not be kept. */
  #chunks: Buffer[] | undefined = [];
  #bytes = 0;
  #engine: string | undefined;

  /** Without `keeping` the caller is told that its answer is a new one, and that is all. */
  constructor(answer: Answer, keeping: Keeping | undefined) {
    this.#answer = answer;
    this.#keeping = keeping;
  }

  from(deployment: Pick<Deployment, 'engine' | 'place'>, tries: number): void {
    this.#engine = deployment.engine.id;
    this.#answer.from(deployment, tries);
  }

  head(status: number, headers: readonly string[]): void {
    this.#status = status;
    this.#headers = headers;
    if (status !== 200 || this.#engine !== this.#keeping?.engine) this.#chunks = undefined;
    this.#answer.head(status, [...headers, CACHE_HEADER, 'miss']);
  }

  write(chunk: Buffer): boolean {
    this.#add(chunk);
    return this.#answer.write(chunk);
  }

  end(trailers: readonly string[], last?: Buffer): void {
    if (last !== undefined) this.#add(last);
    if (trailers.length === 0) this.#keep();
    this.#answer.end(trailers, last);
  }

  refuse(error: AbpError): void {
    this.#answer.refuse(error);
  }

  abandon(): void {
    this.#answer.abandon();
  }

  #add(chunk: Buffer): void {
    if (this.#chunks === undefined || this.#keeping === undefined) return;
    this.#bytes += chunk.length;
    if (this.#bytes > this.#keeping.cache.answerBytes) this.#chunks = undefined;
    else this.#chunks.push(chunk);
  }

  #keep(): void {
    const chunks = this.#chunks;
    // A stream may fail inside; its receipt knows.
    if (chunks === undefined || this.#keeping === undefined || this.#keeping.recorder.outcome !== 'completed') return;
    const { cache, place } = this.#keeping;
    const body = Buffer.concat(chunks);
    cache.put(place, { status: this.#status, headers: lastingHeaders(this.#headers), body, events: eventsIn(this.#headers, body) });
  }
}

/** Headers that were true of one call alone: when it was, how it is called, what was left of a limit then. */
const PASSING = new Set(['date', 'age', 'request-id', 'x-request-id', 'retry-after', 'openai-processing-ms', 'server-timing', 'via']);
const PASSING_PARTS = ['ratelimit', 'cf-', 'x-envoy-'];

function lastingHeaders(headers: readonly string[]): string[] {
  return headers.filter((_, at) => isLasting(headers[at - (at % 2)]?.toLowerCase() ?? ''));
}

function isLasting(name: string): boolean {
  return !PASSING.has(name) && !PASSING_PARTS.some((part) => name.includes(part));
}

function eventsIn(headers: readonly string[], body: Buffer): number {
  const streamed = headers.some((value, at) => at % 2 === 1 && value.startsWith('text/event-stream'));
  return streamed ? body.toString('latin1').split(/\r?\n\r?\n/).length - 1 : 1;
}

/** Gives a kept answer once more. No engine is called, and nothing is used. */
export function giveAgain({ status, headers, body, events }: KeptResponse, answer: Answer, recorder: Recorder): void {
  recorder.tape?.caller.head(status, headers);
  recorder.tape?.caller.chunk(body);
  recorder.close({
    status: 'completed',
    reason: 'cached',
    error: null,
    response: null,
    eventCount: events,
    whole: true,
    cost: { nano_usd: 0, price_version: 'cached' },
  });
  answer.head(status, [...headers, CACHE_HEADER, 'hit']);
  answer.write(body);
  answer.end([]);
}
