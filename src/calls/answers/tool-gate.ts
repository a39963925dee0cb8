import { joinedInTurns } from '../../base/bounded/buffers.ts';
import { AbpError } from '../../contract/errors.ts';
import type { AnswerContext, Dialect } from '../../dialects/dialect.ts';
import type { IrAnswerEvent, IrEvent } from '../../ir/event.ts';
import { ruleAgainst, type ToolRules, toolDenied } from '../../mapping/tools/tool-rules.ts';
import type { EngineNote, ExchangeFailure, ExchangeSink } from '../../upstream/exchange.ts';
import type { Holding } from '../bounds/body-budget.ts';
import { encodingOf, headerOf } from '../headers.ts';
import { mayHoldMany } from '../large-bodies/large-bodies.ts';
import { EngineStream } from './engine-stream.ts';
import type { SeenAnswer } from './seen-answer.ts';

/** A body up to this size is read at once, a larger one on another thread. */
const READ_AT_ONCE = 256 * 1024;
const NOTHING = Buffer.alloc(0);
const MOST_HELD = 64 * 1024 * 1024;

export interface ToolGateOptions {
  readonly rules: readonly ToolRules[];
  /** The dialect that the engine answers in. */
  readonly dialect: Dialect;
  readonly context: AnswerContext;
  /** The caller's name of a tool that was sent under another one. */
  readonly ownName: (name: string) => string;
  /** Reads a long answer on another thread. */
  readonly aside: (body: Buffer, streamed: boolean) => Promise<SeenAnswer>;
  /** Memory for what has not passed yet. */
  readonly holding: Holding;
}

/**
 * Stands between an engine and the one who takes its answer, and lets no call of a denied tool through: bytes pass as they came, an event
 * of a stream when it is whole, an answer in one piece when all of it is here. The first denied call ends the answer with E005.
 */
export class ToolGate implements ExchangeSink {
  readonly #options: ToolGateOptions;
  readonly #sink: ExchangeSink;
  readonly #abort: () => void;
  readonly #stream: EngineStream;
  /** Bytes that have not passed yet. */
  #held: Buffer[] = [];
  #bytes = 0;
  #head: { status: number; headers: readonly string[]; note: EngineNote | undefined } | undefined;
  #kind: 'open' | 'stream' | 'whole' = 'open';
  #refusal: AbpError | undefined;

  /** `abort` ends the exchange with the engine. */
  constructor(options: ToolGateOptions, sink: ExchangeSink, abort: () => void) {
    this.#options = options;
    this.#sink = sink;
    this.#abort = abort;
    this.#stream = new EngineStream(options.dialect.stepper());
  }

  /** Why the answer was ended; undefined where nothing in it was denied. */
  get refusal(): AbpError | undefined {
    return this.#refusal;
  }

  head(status: number, headers: readonly string[], note?: EngineNote): void {
    this.#head = { status, headers, note };
    const streamed = (headerOf(headers, 'content-type') ?? '').startsWith('text/event-stream');
    if (status < 400) this.#kind = streamed ? 'stream' : 'whole';
    if (this.#kind !== 'open' && encodingOf(headers) !== '') this.#fail(unreadable('it is compressed, which it was asked not to be'));
    else if (this.#kind !== 'whole') this.#passHead();
  }

  data(chunk: Buffer): boolean {
    if (this.#refusal !== undefined) return true;
    if (this.#kind === 'open') return this.#sink.data(chunk);
    if (!this.#hold(chunk)) return true;
    return this.#kind === 'stream' ? this.#passEvents() : true;
  }

  #hold(chunk: Buffer): boolean {
    this.#held.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes > MOST_HELD) {
      this.#fail(unreadable('it is too large'));
      return false;
    }
    try {
      this.#options.holding.keep(this.#bytes);
      return true;
    } catch (error) {
      if (!AbpError.is(error)) throw error;
      this.#fail(error);
      return false;
    }
  }

  end(trailers: readonly string[]): void {
    if (this.#refusal !== undefined) return;
    if (this.#kind === 'whole') {
      this.#readWhole(trailers).catch((error: unknown) => this.#fail(AbpError.is(error) ? error : unreadable('it cannot be read')));
      return;
    }
    if (this.#kind === 'stream') {
      const rest = Buffer.concat(this.#held);
      if (this.#isDenied([...this.#stream.read(rest), ...this.#stream.rest()])) return;
      if (rest.length > 0) this.#sink.data(rest);
    }
    this.#options.holding.release();
    this.#sink.end(trailers);
  }

  fail(failure: ExchangeFailure): void {
    this.#options.holding.release();
    if (this.#refusal === undefined) this.#sink.fail(failure);
  }

  #passHead(): void {
    const { status, headers, note } = this.#head ?? { status: 0, headers: [], note: undefined };
    this.#sink.head(status, headers, note);
  }

  /** Lets whole events through; the beginning of the next one waits. */
  #passEvents(): boolean {
    if (this.#refusal !== undefined) return true;
    const last = this.#held.at(-1) ?? NOTHING;
    // The end of an event lies in the newest bytes, or begins in the three before them. Only then is everything put together: an event
    // that comes in a thousand pieces is copied once.
    const seam = Math.min(3, this.#bytes - last.length);
    const found = endOfEvents(seam === 0 ? last : Buffer.concat([this.#lastBytes(seam), last]));
    if (found === 0) return true;
    const all = Buffer.concat(this.#held);
    const end = all.length - last.length - seam + found;
    this.#held = end === all.length ? [] : [all.subarray(end)];
    this.#bytes = all.length - end;
    const whole = all.subarray(0, end);
    if (this.#isDenied(this.#stream.read(whole))) return true;
    return this.#sink.data(whole);
  }

  /** So many bytes before the newest ones. */
  #lastBytes(count: number): Buffer {
    const before: Buffer[] = [];
    for (let at = this.#held.length - 2, found = 0; at >= 0 && found < count; at -= 1) {
      const piece = this.#held[at] ?? NOTHING;
      before.unshift(piece.subarray(Math.max(0, piece.length - (count - found))));
      found += Math.min(piece.length, count - found);
    }
    return Buffer.concat(before);
  }

  #isDenied(events: readonly IrEvent[]): boolean {
    if (this.#stream.broken) {
      this.#fail(unreadable('an event of it is too large'));
      return true;
    }
    const found = events
      .map((event) => (event.type === 'choice' ? event.event : event))
      .find((event) => this.#deniedIn(event) !== undefined);
    const error = found === undefined ? undefined : this.#deniedIn(found);
    if (error === undefined) return false;
    this.#refusal = error;
    // The caller's SDK reads an error of its own vendor, at the place where the call would have been.
    const { dialect, context } = this.#options;
    const text = dialect.emitter(context).emit({ type: 'error', error: { kind: 'permission', message: error.message, status: 403 } });
    this.#options.holding.release();
    this.#sink.data(Buffer.from(text, 'utf8'));
    this.#sink.end([]);
    this.#abort();
    return true;
  }

  #deniedIn(event: IrAnswerEvent): AbpError | undefined {
    return event.type === 'part-start' && event.part.kind === 'tool-call' ? this.#denied(event.part.name) : undefined;
  }

  #denied(name: string): AbpError | undefined {
    const { rules, ownName } = this.#options;
    const rule = ruleAgainst(rules, ownName(name));
    return rule === undefined ? undefined : toolDenied(ownName(name), rule, 'The model called');
  }

  async #readWhole(trailers: readonly string[]): Promise<void> {
    const { dialect, aside } = this.#options;
    const body = await joinedInTurns(this.#held, this.#bytes);
    const isShort = body.length <= READ_AT_ONCE && !mayHoldMany(body);
    const { observed } = isShort ? { observed: dialect.observeBody(body.toString('utf8')) } : await aside(body, false);
    if (this.#refusal !== undefined) return;
    const error = observed.toolCalls.map(({ name }) => this.#denied(name)).find((found) => found !== undefined);
    if (error === undefined) this.#passWhole(body, trailers);
    else this.#fail(error);
  }

  #passWhole(body: Buffer, trailers: readonly string[]): void {
    this.#held = [];
    this.#options.holding.release();
    this.#passHead();
    if (body.length > 0) this.#sink.data(body);
    this.#sink.end(trailers);
  }

  #fail(error: AbpError): void {
    if (this.#refusal !== undefined) return;
    this.#refusal = error;
    this.#held = [];
    this.#options.holding.release();
    this.#sink.fail({ kind: 'refused', message: error.message, error });
    this.#abort();
  }
}

function unreadable(reason: string): AbpError {
  return new AbpError('engine_failed', `The engine's answer cannot be held to the rules about tools: ${reason}.`);
}

/** Where the last whole event ends; 0 where none does. */
function endOfEvents(bytes: Buffer): number {
  const ends = ['\n\n', '\r\n\r\n', '\r\r'].map((blank) => [bytes.lastIndexOf(blank, undefined, 'latin1'), blank.length] as const);
  return Math.max(0, ...ends.map(([at, length]) => (at === -1 ? 0 : at + length)));
}
