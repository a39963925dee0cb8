import { gzipSync } from 'node:zlib';
import { type JsonObject, parseJsonObject } from '../../base/json.ts';
import type { AnswerContext, Dialect, Emitter, WireError } from '../../dialects/dialect.ts';
import type { IrEvent } from '../../ir/event.ts';
import { Fold } from '../../ir/fold.ts';
import type { IrError } from '../../ir/response.ts';
import type { Exchange, ExchangeRequest, ExchangeSink, Transport } from '../../upstream/exchange.ts';
import type { SimPlan, SimStep } from './brain.ts';
import type { Wrapping } from './plan.ts';
import { PromptCache, planWithCache } from './prompt-cache.ts';
import { type Arrived, matchOf, type Reading, readingOf } from './reading.ts';
import { isSlow, readAside } from './slow-requests.ts';

/** Events that are played before others have their turn. */
const STEPS_AT_ONCE = 500;
const NOTHING = Buffer.alloc(0);

/** A deterministic engine has no clock of its own: equal requests give equal bytes. */
const EPOCH_MS = Date.UTC(2026, 0, 1);

/** Serves a call inside this process as a vendor would over HTTP: same paths, same bodies, same framing. */
export function transport(request: ExchangeRequest, sink: ExchangeSink): Exchange {
  return begun(new SimCall(request, sink));
}

/** The same for a deployment that remembers prompts, as vendors do for each key. */
export function rememberingTransport(): Transport {
  const cache = new PromptCache();
  return (request, sink) => begun(new SimCall(request, sink, cache));
}

/** A vendor never answers before the request is sent; neither does this one. */
function begun(call: SimCall): Exchange {
  queueMicrotask(() => call.run());
  return call;
}

type PlanReading = Extract<Reading, { kind: 'plan' }>;

class SimCall implements Exchange {
  readonly #request: ExchangeRequest;
  readonly #sink: ExchangeSink;
  readonly #cache: PromptCache | undefined;
  #aborted = false;
  #timer: NodeJS.Timeout | undefined;
  #resume: (() => void) | undefined;
  #wrapping: Wrapping | undefined;
  #marked = false;
  readonly #packed: Buffer[] = [];

  constructor(request: ExchangeRequest, sink: ExchangeSink, cache?: PromptCache) {
    this.#request = request;
    this.#sink = sink;
    this.#cache = cache;
  }

  abort(): void {
    if (this.#aborted) return;
    this.#aborted = true;
    clearTimeout(this.#timer);
    this.#sink.fail({ kind: 'aborted', message: 'the caller went away' });
  }

  resume(): void {
    const next = this.#resume;
    this.#resume = undefined;
    next?.();
  }

  run(): void {
    if (this.#aborted) return;
    try {
      this.#start();
    } catch (error) {
      this.#broken(error);
    }
  }

  #broken(error: unknown): void {
    this.#sink.fail({ kind: 'broken', message: error instanceof Error ? error.message : String(error) });
  }

  #start(): void {
    const [path = ''] = this.#request.path.split('?');
    const { method, dialect, json } = this.#request;
    const arrived: Arrived = {
      method,
      path,
      dialect,
      body: bodyOf(this.#request),
      json,
      ...(this.#cache === undefined ? {} : { prefixes: true }),
    };
    if (!isSlow(arrived.body)) {
      this.#go(arrived, readingOf(arrived));
      return;
    }
    readAside(arrived)
      .then((reading) => {
        if (!this.#aborted) this.#go(arrived, reading);
      })
      .catch((error: unknown) => {
        if (!this.#aborted) this.#broken(error);
      });
  }

  #go(arrived: Arrived, reading: Reading): void {
    const dialect = matchOf(arrived)?.dialect;
    if (dialect === undefined || reading.kind === 'unknown') {
      this.#answer({ status: 404, body: { error: { type: 'not_found', message: `sim has no ${arrived.method} ${arrived.path}` } } });
    } else if (reading.kind === 'refused') this.#refuse(dialect, reading.error);
    else if (reading.kind === 'count') this.#answer({ status: 200, body: dialect.tokenCount(reading.tokens) });
    else this.#generate(dialect, this.#remembered(reading, arrived));
  }

  /** Prompts that were seen before are told as such. */
  #remembered(reading: PlanReading, { body }: Arrived): PlanReading {
    if (this.#cache === undefined || reading.prefixes === undefined) return reading;
    return { ...reading, plan: planWithCache(reading.plan, this.#cache.use(reading.prefixes, body)) };
  }

  #generate(dialect: Dialect, { plan, runHex, model, includeUsage, stream, echo: repeated }: PlanReading): void {
    const echo = repeated === undefined ? undefined : parseJsonObject(repeated);
    const context: AnswerContext = {
      ...{ runHex, createdAtMs: EPOCH_MS, model, includeUsage, query: queryOf(this.#request.path) },
      ...(echo === undefined ? {} : { echo }),
    };
    this.#wrapping = plan.wrapping;
    if (plan.wrapping.page) this.#page();
    else this.#play(plan, 0, stream ? this.#streamed(dialect, context) : this.#whole(dialect, context));
  }

  /** Plays the plan step by step; a wait, a slow reader or other calls whose turn it is pick it up again later. */
  #play(plan: SimPlan, from: number, player: (step: SimStep) => boolean): void {
    for (let at = from; at < plan.steps.length; at += 1) {
      const step = plan.steps[at];
      if (step === undefined || this.#aborted) return;
      if (at === from + STEPS_AT_ONCE) {
        setImmediate(() => this.#play(plan, at, player));
        return;
      }
      if (step.kind === 'wait') {
        this.#timer = setTimeout(() => this.#play(plan, at + 1, player), step.ms);
        return;
      }
      if (!player(step)) {
        this.#resume = () => this.#play(plan, at + 1, player);
        return;
      }
    }
  }

  #streamed(dialect: Dialect, context: AnswerContext): (step: SimStep) => boolean {
    const emitter = dialect.emitter(context);
    let opened = false;
    return (step) => {
      if (step.kind === 'cut') this.#sink.fail({ kind: 'broken', message: 'sim cut the stream' });
      else if (step.kind === 'fail' && !opened) this.#refuse(dialect, step.error);
      else if (step.kind !== 'wait') {
        if (!opened) this.#head(['content-type', emitter.contentType, 'cache-control', 'no-cache']);
        opened = true;
        return this.#emit(emitter, step.kind === 'event' ? step.event : { type: 'error', error: step.error });
      }
      return true;
    };
  }

  /** A compressed stream comes in one piece at its end; what is in it does not change. */
  #emit(emitter: Emitter, event: IrEvent): boolean {
    const text = emitter.emit(event);
    const ends = event.type === 'message-end' || event.type === 'error';
    const bytes = this.#wrap(text);
    const flowing = bytes.length === 0 || this.#sink.data(bytes);
    if (ends && this.#wrapping?.gzip === true) this.#sink.data(gzipSync(Buffer.concat(this.#packed)));
    if (ends) this.#sink.end([]);
    return flowing;
  }

  #wrap(text: string): Buffer {
    const mark = this.#wrapping?.mark === true && !this.#marked && text !== '' ? '\uFEFF' : '';
    this.#marked ||= mark !== '';
    const bytes = Buffer.from(`${mark}${text}`, 'utf8');
    if (this.#wrapping?.gzip !== true) return bytes;
    this.#packed.push(bytes);
    return Buffer.alloc(0);
  }

  #head(headers: readonly string[]): void {
    const coding = this.#wrapping?.gzip === true ? ['content-encoding', 'gzip'] : [];
    this.#sink.head(200, [...headers, ...coding, ...this.#ids()]);
  }

  #page(): void {
    const body = Buffer.from('<html><body><h1>502 Bad Gateway</h1>sim was asked for a page</body></html>');
    this.#sink.head(200, ['content-type', 'text/html', 'content-length', String(body.length), ...this.#ids()]);
    this.#sink.data(body);
    this.#sink.end([]);
  }

  #whole(dialect: Dialect, context: AnswerContext): (step: SimStep) => boolean {
    const fold = new Fold();
    return (step) => {
      if (step.kind === 'fail') this.#refuse(dialect, step.error);
      else if (step.kind === 'fail-inside') this.#answer({ status: 200, body: failedBody(dialect, step.error, context) });
      else if (step.kind === 'cut') this.#cutBody();
      else if (step.kind === 'event') {
        fold.push(step.event);
        const response = step.event.type === 'message-end' ? fold.response() : undefined;
        if (response !== undefined) this.#answer({ status: 200, body: dialect.lowerResponse(response, context) });
      }
      return true;
    };
  }

  #refuse(dialect: Dialect, error: IrError): void {
    const hints = error.retryAfterMs === undefined ? [] : ['retry-after', String(Math.ceil(error.retryAfterMs / 1000))];
    this.#answer(dialect.lowerError(error, { requestId: `req_${this.#request.runHex}` }), hints);
  }

  #answer(answer: WireError, headers: readonly string[] = []): void {
    const mark = this.#wrapping?.mark === true ? '\uFEFF' : '';
    const plain = Buffer.from(`${mark}${JSON.stringify(answer.body)}`, 'utf8');
    const packed = this.#wrapping?.gzip === true;
    const body = packed ? gzipSync(plain) : plain;
    const coding = packed ? ['content-encoding', 'gzip'] : [];
    const about = ['content-type', 'application/json', 'content-length', String(body.length), ...coding];
    this.#sink.head(answer.status, [...about, ...headers, ...this.#ids()]);
    this.#sink.data(body);
    this.#sink.end([]);
  }

  #cutBody(): void {
    this.#sink.head(200, ['content-type', 'application/json', 'content-length', '1000']);
    this.#sink.data(Buffer.from('{"'));
    this.#sink.fail({ kind: 'broken', message: 'sim cut the answer' });
  }

  #ids(): string[] {
    return ['request-id', `req_${this.#request.runHex}`];
  }
}

/** A failed answer as the vendor writes it: Responses says so by its status, the others put the error into the body. */
function failedBody(dialect: Dialect, error: IrError, context: AnswerContext): JsonObject {
  return dialect.failedResponse?.(error, context) ?? dialect.lowerError(error, { requestId: `req_${context.runHex}` }).body;
}

/** Only raw paths have a streamed body, and sim has none of those. */
function bodyOf({ body }: ExchangeRequest): Buffer {
  return Buffer.isBuffer(body) ? body : NOTHING;
}

function queryOf(path: string): string {
  const mark = path.indexOf('?');
  return mark === -1 ? '' : path.slice(mark);
}
