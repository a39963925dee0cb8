import type { AbpError } from '../../contract/errors.ts';
import type { Observed } from '../../dialects/dialect.ts';
import { EngineFailure } from '../../ir/engine-failure.ts';
import type { IrError } from '../../ir/response.ts';
import { type AnswerRecord, NO_RECORD } from '../../mapping/answers/account.ts';
import type { EngineNote, Exchange, ExchangeFailure, ExchangeRequest, ExchangeSink } from '../../upstream/exchange.ts';
import type { TakeOver } from '../../upstream/gate.ts';
import type { Step } from '../batch.ts';
import { Collected } from '../bounds/collected.ts';
import { isEncoding } from '../bounds/decoding.ts';
import { StreamDecoder } from '../bounds/stream-decoder.ts';
import { failureError, isRedirect, redirectError } from '../failure.ts';
import { encodingOf, retryHints } from '../headers.ts';
import { LARGE_BYTES, mayHoldMany, type TranslatedAnswer } from '../large-bodies/large-bodies.ts';
import type { Ending } from '../recorder.ts';
import { engineError, FailedAnswer, toldError, translationError, undecodable } from './answer-errors.ts';
import { BodyDigest } from './body-digest.ts';
import { collectedAnswer } from './decoded-answer.ts';
import type { MappedOptions } from './mapped-options.ts';
import { type Pending, Together } from './together.ts';
import { ToolGate } from './tool-gate.ts';
import { StreamTranslator, translatePiece, translateWhole } from './translate.ts';

/** Sends the translated request and translates the answer on its way back. */
export function callMapped(request: ExchangeRequest, options: MappedOptions): Exchange {
  const call = new MappedCall(options);
  options.recorder.dispatched(options.deployment);
  options.answer.from(options.deployment, options.recorder.tries);
  return call.start(request);
}

const together = new Together();

class MappedCall implements ExchangeSink, Exchange, Pending {
  readonly #options: MappedOptions;
  readonly #digest = new BodyDigest();
  /** The request without its body, for an engine that is asked to go on. */
  #request: Omit<ExchangeRequest, 'body' | 'json'> | undefined;
  #exchange: Exchange | undefined;
  /** Lets no call of a denied tool through. */
  #gate: ToolGate | undefined;
  #stream: StreamTranslator | undefined;
  /** Reads a stream that is compressed. */
  #decoder: StreamDecoder | undefined;
  readonly #collected: Collected;
  /** Chunks of a stream that came in this turn of the event loop, … */
  #arrived: Buffer[] = [];
  /** … and what they are for the caller. */
  #translated = '';
  #begun = false;
  /** The caller does not keep up. */
  #slow = false;
  #status = 0;
  #headers: readonly string[] = [];
  #finished = false;
  #taken = false;
  /** The caller's answer came to its end. */
  #whole = false;
  /** The engine had more to say. */
  #cut = false;
  /** The caller went away. */
  #left = false;
  /** The engine was asked to go on: its answers cannot be replayed as one. */
  #continued = false;
  /** The fate of everything in an answer that came whole. */
  #record: AnswerRecord = NO_RECORD;

  constructor(options: MappedOptions) {
    this.#options = options;
    this.#collected = new Collected(options.holding);
  }

  start(request: ExchangeRequest): Exchange {
    const { body, json, ...rest } = request;
    if (this.#options.turns !== undefined) this.#request = rest;
    this.#ask(request, this.#options.takeOver);
    return this;
  }

  #ask(request: ExchangeRequest, takeOver?: TakeOver): void {
    const { admitted, gate } = this.#options;
    this.#gate = gate === undefined ? undefined : new ToolGate(gate, this, () => this.abort());
    this.#exchange = admitted.send(request, this.#gate ?? this, takeOver);
  }

  abort(): void {
    this.#left = true;
    this.#exchange?.abort();
  }

  resume(): void {
    this.#slow = false;
    this.#decoder?.resume();
    this.#exchange?.resume();
  }

  head(status: number, headers: readonly string[], note?: EngineNote): void {
    this.#take();
    this.#status = status;
    this.#headers = headers;
    this.#options.recorder.firstByte(status, note);
    this.#options.recorder.tape?.engine.head(status, headers);
    if (isRedirect(status)) this.#giveUp(redirectError(status, this.#options.deployment));
    if (this.#finished || status >= 400 || !this.#options.streamed) return;
    this.#decoder = this.#decoderOf(encodingOf(headers));
    if (this.#finished || this.#stream !== undefined) return;
    this.#stream = new StreamTranslator(this.#options.translation, this.#options.turns);
    this.#head(200, ['content-type', this.#stream.contentType, 'cache-control', 'no-cache']);
  }

  /** Engines are asked not to compress; a proxy before one may do so all the same. */
  #decoderOf(encoding: string): StreamDecoder | undefined {
    if (encoding === '') return undefined;
    if (isEncoding(encoding))
      return new StreamDecoder(encoding, {
        data: (chunk) => this.#arrive(chunk),
        end: () => this.#end(),
        broken: () => {
          this.#pass();
          this.#spoiled(undecodable(encoding));
        },
        drained: () => this.#exchange?.resume(),
      });
    this.#giveUp(undecodable(encoding));
    return undefined;
  }

  /** Nothing of what the engine sends can be read. */
  #giveUp(why: unknown): void {
    if (this.#stream !== undefined) this.#spoiled(why);
    else if (this.#finish()) this.#untranslatable(why);
    this.#exchange?.abort();
  }

  /** A stream cannot be read on: it is compressed badly, does not end, finds no room, or says what nobody understands. */
  #spoiled(error: unknown): void {
    const [stream, text] = [this.#stream, this.#translated];
    if (stream === undefined || !this.#finish()) return;
    this.#translated = '';
    this.#finishStream(stream, text + stream.spoil(error));
    this.#exchange?.abort();
  }

  data(chunk: Buffer): boolean {
    this.#digest.update(chunk);
    this.#options.recorder.tape?.engine.chunk(chunk);
    if (this.#stream === undefined || this.#status >= 400) {
      this.#collect(chunk);
      return true;
    }
    return this.#decoder === undefined ? this.#arrive(chunk) : this.#decoder.write(chunk);
  }

  /** Bytes of a stream, in plain text. */
  #arrive(chunk: Buffer): boolean {
    if (this.#finished) return true;
    this.#arrived.push(chunk);
    if (!this.#begun) this.#pass();
    else if (this.#arrived.length === 1) together.add(this);
    return !this.#slow;
  }

  #collect(chunk: Buffer): void {
    if (this.#finished) return;
    try {
      if (this.#status < 400) this.#collected.add(chunk);
      else if (!this.#collected.addOfError(chunk)) this.#cutError();
    } catch (thrown) {
      this.#giveUp(thrown);
    }
  }

  /** The rest of an error that is long enough is not waited for: it may have no end. */
  #cutError(): void {
    if (!this.#finish()) return;
    this.#cut = true;
    this.#readBody((body) => this.#translateError(body));
    this.#exchange?.abort();
  }

  translate(): void {
    const arrived = this.#arrived;
    this.#arrived = [];
    try {
      for (const chunk of arrived) this.#translated += this.#stream?.push(chunk) ?? '';
      this.#options.holding.keep(this.#stream?.kept ?? 0);
    } catch (thrown) {
      this.#spoiled(thrown);
    }
  }

  send(): void {
    const [stream, text] = [this.#stream, this.#translated];
    if (this.#finished || stream === undefined) return;
    this.#translated = '';
    for (const bytes of stream.bytesOf(text)) if (!this.#write(bytes)) this.#slow = true;
    // An answer that is cut, or that broke off with an error, is complete for the caller; the engine need not go on.
    if (stream.broken || (stream.done && this.#options.translation.filter.done)) this.#finishEarly(stream);
  }

  end(trailers: readonly string[]): void {
    if (!this.#finished) this.#options.recorder.tape?.engine.trailers(trailers);
    if (this.#decoder === undefined) this.#end();
    else this.#decoder.end();
  }

  #end(): void {
    this.#pass();
    if (this.#stream?.paused === true && this.#goOn(this.#stream.goOn())) return;
    if (!this.#finish()) return;
    this.#whole = true;
    if (this.#stream !== undefined && this.#status < 400) this.#endStream(this.#stream);
    else this.#readBody((body) => (this.#status >= 400 ? this.#translateError(body) : this.#translateBody(body)));
  }

  /** Asks an engine that paused to go on; false where that is not possible. */
  #goOn(body: Buffer | undefined): boolean {
    if (body === undefined || this.#request === undefined || this.#left) return false;
    this.#finished = false;
    this.#continued = true;
    this.#decoder = undefined;
    this.#ask({ ...this.#request, body });
    return true;
  }

  fail(failure: ExchangeFailure): void {
    if (failure.kind !== 'aborted') this.#pass();
    if (!this.#finish()) return;
    const { answer, deployment } = this.#options;
    if (failure.kind === 'aborted') {
      this.#close('cancelled', 'client_closed', null, this.#stream?.observed());
      return;
    }
    const error = failureError(failure, deployment);
    this.#close('failed', failure.kind, error, this.#stream?.observed());
    if (this.#stream === undefined) answer.refuse(error);
    else answer.abandon();
  }

  /** At once: the head travels with the first bytes. */
  #pass(): void {
    this.translate();
    this.send();
  }

  #take(): void {
    if (!this.#taken) this.#options.onTaken();
    this.#taken = true;
  }

  /** False when the call is over already. */
  #finish(): boolean {
    if (this.#finished) return false;
    this.#finished = true;
    this.#decoder?.stop();
    this.#take();
    this.#options.recorder.lastByte();
    return true;
  }

  #finishEarly(stream: StreamTranslator): void {
    if (!this.#finish()) return;
    this.#whole = true;
    this.#cut = true;
    this.#closeStream(stream);
    this.#options.answer.end([]);
    this.#exchange?.abort();
  }

  #endStream(stream: StreamTranslator): void {
    const text = stream.rest();
    if (stream.waits) void stream.judged(this.#options.judge).then((rest) => this.#finishStream(stream, text + rest));
    else this.#finishStream(stream, text);
  }

  #finishStream(stream: StreamTranslator, text: string): void {
    const last = stream.bytesOf(text);
    for (const bytes of last) this.#options.recorder.tape?.caller.chunk(bytes);
    // Journaled first, as everywhere: a caller who has a whole answer finds its receipt.
    this.#closeStream(stream);
    for (const bytes of last) this.#options.answer.write(bytes);
    this.#options.answer.end([]);
  }

  #closeStream(stream: StreamTranslator): void {
    const observed = stream.observed();
    const refusal = this.#gate?.refusal;
    const failed = observed.error !== undefined;
    if (refusal !== undefined) this.#close('failed', 'policy', refusal, observed);
    else
      this.#close(failed ? 'failed' : 'completed', failed ? 'engine_error' : null, failed ? engineError(observed.error) : null, observed);
  }

  #readBody(read: (body: Buffer) => void): void {
    const body = collectedAnswer(this.#collected, encodingOf(this.#headers), this.#options.holding);
    if (body instanceof Promise) body.then(read).catch((thrown: unknown) => this.#untranslatable(thrown));
    else read(body);
  }

  #translateBody(body: Buffer): void {
    const { aside, translation, turns } = this.#options;
    const send = ({ text, observed, record }: TranslatedAnswer): void => {
      this.#record = record;
      this.#send(200, text, [], () => this.#close('completed', null, null, observed));
    };
    // A later piece of an answer belongs to the ones before it, which are here.
    if (!this.#continued && (body.length >= LARGE_BYTES || translation.filter.slow || mayHoldMany(body))) {
      aside(body, this.#headers)
        .then(send)
        .catch((thrown: unknown) => this.#untranslatable(thrown));
      return;
    }
    try {
      const told =
        turns === undefined ? translateWhole(body, translation, this.#headers) : translatePiece(body, translation, this.#headers, turns);
      if (told !== undefined) send({ ...told, text: Buffer.from(told.text, 'utf8') });
      else if (!this.#goOn(turns?.goOn())) throw new Error('the engine paused its turn and cannot be asked to go on');
    } catch (thrown) {
      this.#untranslatable(thrown);
    }
  }

  #untranslatable(failure: unknown): void {
    const { reason: thrown, facts } = failure instanceof FailedAnswer ? failure : { reason: failure };
    if (facts !== undefined) this.#record = facts.record;
    if (thrown instanceof EngineFailure) {
      this.#tellError(thrown.error, facts?.observed);
      return;
    }
    const error = translationError(thrown);
    this.#close('failed', 'untranslatable', error, facts?.observed);
    this.#options.answer.refuse(error);
  }

  #translateError(body: Buffer): void {
    const { translation } = this.#options;
    this.#tellError(translation.engine.liftError(this.#status, retryHints(this.#headers), body.toString('utf8')));
  }

  #tellError(error: IrError, observed = this.#options.turns?.spent): void {
    if (this.#stream !== undefined) {
      // It was refused when it was asked to go on.
      this.#finishStream(this.#stream, this.#stream.fail(error));
      return;
    }
    const { status, body, hints } = toldError(error, this.#options.translation, this.#headers);
    this.#send(status, body, hints, () => this.#close('failed', 'engine_error', engineError(error.message), observed));
  }

  /** Sends a whole answer, once its end is in the journal together with those of other calls that end now. */
  #send(status: number, body: Buffer, more: readonly string[], close: () => void): void {
    const { answer, recorder, onFault } = this.#options;
    const headers = ['content-type', 'application/json; charset=utf-8', 'content-length', String(body.length), ...more];
    const step: Step = {
      record: close,
      proceed: () => {
        answer.head(status, headers);
        answer.end([], body);
      },
      fail: (fault) => {
        onFault(fault);
        answer.abandon();
      },
    };
    recorder.tape?.caller.head(status, headers);
    const recorded = recorder.tape?.caller.whole(body);
    if (recorded === undefined) recorder.ending(step);
    else recorded.then(() => recorder.ending(step)).catch((thrown: unknown) => this.#untranslatable(thrown));
  }

  #head(status: number, headers: readonly string[]): void {
    this.#options.recorder.tape?.caller.head(status, headers);
    this.#options.answer.head(status, headers);
  }

  #write(bytes: Buffer): boolean {
    this.#begun = true;
    this.#options.recorder.tape?.caller.chunk(bytes);
    return this.#options.answer.write(bytes);
  }

  #close(status: Ending['status'], reason: string | null, error: AbpError | null, observed: Observed | undefined): void {
    this.#collected.drop();
    this.#options.recorder.close({
      status,
      reason,
      error: error === null ? null : { code: error.code, message: error.message },
      response: this.#status === 0 ? null : { status: this.#status, ...this.#digest.done().digest },
      eventCount: this.#stream?.eventCount ?? (this.#status === 0 ? 0 : 1),
      whole: this.#whole && !this.#continued,
      cut: this.#cut,
      ...(observed === undefined ? {} : { observed }),
      answer: this.#stream?.record(this.#headers) ?? this.#record,
    });
  }
}
