import { AbpError } from '../../contract/errors.ts';
import type { AnswerContext, Dialect } from '../../dialects/dialect.ts';
import type { IrAnswerEvent, IrEvent } from '../../ir/event.ts';
import { ruleAgainst, type ToolRules, toolDenied } from '../../mapping/tools/tool-rules.ts';
import type { EngineNote, ExchangeFailure, ExchangeSink } from '../../upstream/exchange.ts';
import { encodingOf, headerOf } from '../headers.ts';
import { EngineStream } from './engine-stream.ts';
import type { SeenAnswer } from './seen-answer.ts';

/** A body up to this size is read at once, a larger one on another thread. */
const READ_AT_ONCE = 256 * 1024;
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
    this.#held.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes > MOST_HELD) this.#fail(unreadable('it is too large'));
    return this.#kind === 'stream' ? this.#passEvents() : true;
  }

  end(trailers: readonly string[]): void {
    if (this.#refusal !== undefined) return;
    if (this.#kind === 'whole') {
      this.#readWhole(Buffer.concat(this.#held), trailers);
      return;
    }
    if (this.#kind === 'stream') {
      const rest = Buffer.concat(this.#held);
      if (this.#isDenied([...this.#stream.read(rest), ...this.#stream.rest()])) return;
      if (rest.length > 0) this.#sink.data(rest);
    }
    this.#sink.end(trailers);
  }

  fail(failure: ExchangeFailure): void {
    if (this.#refusal === undefined) this.#sink.fail(failure);
  }

  #passHead(): void {
    const { status, headers, note } = this.#head ?? { status: 0, headers: [], note: undefined };
    this.#sink.head(status, headers, note);
  }

  /** Lets whole events through; the beginning of the next one waits. */
  #passEvents(): boolean {
    if (this.#refusal !== undefined) return true;
    const [last = Buffer.alloc(0)] = this.#held.slice(-1);
    // The end of an event lies in the newest bytes, or begins in the three before them.
    if (!last.includes(10) && !last.includes(13)) return true;
    const all = Buffer.concat(this.#held);
    const end = endOfEvents(all);
    this.#held = end === all.length ? [] : [all.subarray(end)];
    this.#bytes = all.length - end;
    const whole = all.subarray(0, end);
    if (end === 0 || this.#isDenied(this.#stream.read(whole))) return true;
    return this.#sink.data(whole);
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

  #readWhole(body: Buffer, trailers: readonly string[]): void {
    const { dialect, aside } = this.#options;
    const judge = ({ observed }: Pick<SeenAnswer, 'observed'>): void => {
      const error = observed.toolCalls.map(({ name }) => this.#denied(name)).find((found) => found !== undefined);
      if (error === undefined) this.#passWhole(body, trailers);
      else this.#fail(error);
    };
    if (body.length <= READ_AT_ONCE) judge({ observed: dialect.observeBody(body.toString('utf8')) });
    else aside(body, false).then(judge, (error: unknown) => this.#fail(AbpError.is(error) ? error : unreadable('it cannot be read')));
  }

  #passWhole(body: Buffer, trailers: readonly string[]): void {
    this.#passHead();
    if (body.length > 0) this.#sink.data(body);
    this.#sink.end(trailers);
  }

  #fail(error: AbpError): void {
    if (this.#refusal !== undefined) return;
    this.#refusal = error;
    this.#held = [];
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
