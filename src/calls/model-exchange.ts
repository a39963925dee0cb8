import { parseJson } from '../base/json.ts';
import { AbpError } from '../contract/errors.ts';
import type { RunId } from '../contract/run-id.ts';
import type { Observed } from '../dialects/dialect.ts';
import { EngineFailure } from '../ir/engine-failure.ts';
import type { IrEvent } from '../ir/event.ts';
import { Fold, unfold } from '../ir/fold.ts';
import { PartialAnswer } from '../ir/partial-answer.ts';
import { type IrError, type IrResponse, isTransient } from '../ir/response.ts';
import type { IrUsage } from '../ir/usage.ts';
import { AnswerChanges } from '../mapping/answer-changes.ts';
import { AnswerAccount, type AnswerRecord } from '../mapping/answers/account.ts';
import { AnswerForms } from '../mapping/answers/forms.ts';
import type { OwnMapping } from '../mapping/own-request.ts';
import type { Route } from '../mapping/route.ts';
import type { Exchange, ExchangeFailure, ExchangeSink } from '../upstream/exchange.ts';
import type { TurnedDown } from '../upstream/gate.ts';
import type { Admitted } from './admission.ts';
import { translationError, undecodable } from './answers/answer-errors.ts';
import { BodyDigest } from './answers/body-digest.ts';
import { decodedAnswer } from './answers/decoded-answer.ts';
import { EngineStream } from './answers/engine-stream.ts';
import { observedOf } from './answers/seen-answer.ts';
import { SESSION } from './answers/session-reader.ts';
import type { Holding } from './bounds/body-budget.ts';
import { Collected, LONGEST_ANSWER } from './bounds/collected.ts';
import { isEncoding } from './bounds/decoding.ts';
import { StreamDecoder } from './bounds/stream-decoder.ts';
import type { Deployment } from './deployment.ts';
import { failureError, isRedirect, redirectError } from './failure.ts';
import { encodingOf, engineHeaders, retryHints } from './headers.ts';
import type { Ending, Recorder } from './recorder.ts';

/** A model call without a whole answer, and what there was of one. */
export interface BrokenOff {
  readonly ok: false;
  readonly error: AbpError;
  readonly retryable: boolean;
  readonly retryAfterMs?: number;
  readonly partial?: { readonly text: string; readonly usage: IrUsage };
}

/** How one try of a model call ended. */
export type ExchangeEnd =
  | { readonly ok: true; readonly response: IrResponse }
  | BrokenOff
  /** It failed before the first byte, and another try has taken over. */
  | { readonly ok: 'taken-over' };

export interface ExchangeInput {
  readonly admitted: Admitted;
  readonly deployment: Deployment;
  readonly route: Pick<Route, 'target' | 'model'>;
  readonly mapping: OwnMapping;
  readonly body: Buffer;
  readonly streamed: boolean;
  readonly ask: { readonly signal: AbortSignal; readonly onEvent: (event: IrEvent) => void };
  readonly recorder: Recorder;
  readonly runId: RunId;
  readonly version: string;
  /** Memory for an answer in one piece. */
  readonly holding: Holding;
  /** Asked at a failure before the first byte, where the route allows another try. */
  readonly takeOver: ((reason: TurnedDown) => boolean) | undefined;
}

/** Nearly every engine streams; what comes in one piece is read where other calls wait, so it must be read quickly. */
const LONGEST_WHOLE = 4 * 1024 * 1024;

/** Sends one try and reads its answer as events. */
export function exchange(input: ExchangeInput): Promise<ExchangeEnd> {
  return new Promise((resolve) => new ModelExchange(input, resolve).start());
}

class ModelExchange implements ExchangeSink {
  readonly #options: ExchangeInput;
  readonly #resolve: (end: ExchangeEnd) => void;
  readonly #digest = new BodyDigest();
  readonly #fold = new Fold();
  readonly #partial = new PartialAnswer();
  readonly #filter: AnswerChanges;
  readonly #account: AnswerAccount;
  readonly #forms: AnswerForms;
  readonly #stream: EngineStream;
  #exchange: Exchange | undefined;
  /** Reads a stream that is compressed. */
  #decoder: StreamDecoder | undefined;
  readonly #collected: Collected;
  #status = 0;
  #headers: readonly string[] = [];
  #over = false;
  /** The engine's answer came to its end. */
  #whole = false;
  /** The engine had more to say. */
  #cut = false;
  #unlisten: () => void = () => undefined;

  constructor(options: ExchangeInput, resolve: (end: ExchangeEnd) => void) {
    this.#options = options;
    this.#resolve = resolve;
    this.#collected = new Collected(options.holding, LONGEST_WHOLE);
    this.#filter = new AnswerChanges(options.mapping.changes);
    const { target } = options.route;
    this.#account = new AnswerAccount(target, SESSION);
    const idSeed = options.runId.slice('run_'.length);
    const { json } = this.#filter;
    // The loop sees calls that were cut off for what they are.
    this.#forms = new AnswerForms({ engine: target, caller: SESSION, account: this.#account, json, idSeed, wholeCalls: false });
    this.#stream = new EngineStream(target.stepper(this.#account.event), (body) => target.liftError(502, {}, body));
  }

  start(): void {
    const { admitted, ask, body, deployment, mapping, recorder, runId, route, version, takeOver } = this.#options;
    const { signal } = ask;
    recorder.dispatched(deployment);
    this.#exchange = admitted.send(
      {
        method: 'POST',
        origin: deployment.origin,
        path: `${deployment.basePath}${mapping.upstream.path}`,
        headers: engineHeaders(deployment, mapping.upstream.headers, version),
        body,
        json: mapping.upstream.body,
        silenceMs: deployment.silenceMs,
        runHex: runId.slice('run_'.length),
        dialect: route.target.id,
        model: route.model,
      },
      this,
      takeOver === undefined ? undefined : (reason) => takeOver(reason) && this.#takenOver(),
    );
    const onAbort = (): void => this.#exchange?.abort();
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    this.#unlisten = () => signal.removeEventListener('abort', onAbort);
  }

  head(status: number, headers: readonly string[]): void {
    this.#status = status;
    this.#headers = headers;
    this.#options.recorder.firstByte(status);
    this.#options.recorder.tape?.engine.head(status, headers);
    if (isRedirect(status)) this.#giveUp(redirectError(status, this.#options.deployment), false);
    else if (status < 400 && this.#options.streamed) this.#decoder = this.#decoderOf(encodingOf(headers));
  }

  /** Engines are asked not to compress; a proxy before one may do so all the same. */
  #decoderOf(encoding: string): StreamDecoder | undefined {
    if (encoding === '' || this.#over) return undefined;
    if (!isEncoding(encoding)) {
      this.#undecodable(encoding);
      return undefined;
    }
    return new StreamDecoder(encoding, {
      data: (chunk) => this.#arrive(chunk),
      end: () => this.#end(),
      broken: () => this.#undecodable(encoding),
      drained: () => this.#exchange?.resume(),
    });
  }

  #undecodable(encoding: string): void {
    if (this.#over) return;
    this.#failed({ kind: 'server', message: translationError(undecodable(encoding)).message, status: this.#status });
    this.#exchange?.abort();
  }

  data(chunk: Buffer): boolean {
    if (this.#over) return true;
    this.#digest.update(chunk);
    this.#options.recorder.tape?.engine.chunk(chunk);
    if (this.#digest.bytes > LONGEST_ANSWER) this.#tooLong();
    else if (this.#status >= 400 || !this.#options.streamed) this.#collect(chunk);
    else return this.#decoder === undefined ? this.#arrive(chunk) : this.#decoder.write(chunk);
    return true;
  }

  /** Bytes of a stream, in plain text. */
  #arrive(chunk: Buffer): boolean {
    if (this.#over) return true;
    this.#see(this.#stream.read(chunk));
    if (this.#stream.broken && !this.#over) {
      this.#settle();
      this.#exchange?.abort();
    }
    return true;
  }

  /** A turn keeps all of an answer, so that one without an end must be given up. */
  #tooLong(): void {
    this.#giveUp(new AbpError('engine_failed', `The engine's answer is longer than ${LONGEST_ANSWER / 1024 / 1024} MiB.`), false);
  }

  #giveUp(error: AbpError, retryable: boolean): void {
    this.#close('failed', 'engine_error', error);
    this.#breakOff({ error, retryable });
    this.#exchange?.abort();
  }

  #collect(chunk: Buffer): void {
    try {
      if (this.#status < 400) this.#collected.add(chunk);
      else if (!this.#collected.addOfError(chunk) && !this.#cut) this.#cutError();
    } catch (error) {
      if (!AbpError.is(error)) throw error;
      this.#giveUp(error, error.code === 'overloaded');
    }
  }

  /** The rest of an error that is long enough is not waited for: it may have no end. */
  #cutError(): void {
    this.#cut = true;
    this.#decodeRest();
    this.#exchange?.abort();
  }

  end(trailers: readonly string[]): void {
    if (this.#over) return;
    this.#options.recorder.tape?.engine.trailers(trailers);
    this.#decodeRest();
  }

  #decodeRest(): void {
    const encoding = encodingOf(this.#headers);
    if (this.#decoder !== undefined) this.#decoder.end();
    else if (encoding === '' || this.#collected.bytes === 0) this.#end();
    else
      decodedAnswer(this.#collected.whole(), encoding, this.#options.holding)
        .then((body) => this.#end(body))
        .catch((thrown: unknown) => this.#failed({ kind: 'server', message: translationError(thrown).message, status: this.#status }));
  }

  #end(decoded?: Buffer): void {
    if (this.#over) return;
    this.#whole = !this.#cut;
    if (this.#status >= 400) {
      this.#failed(this.#engineError(decoded ?? this.#collected.whole()));
      return;
    }
    if (this.#options.streamed) {
      this.#see(this.#stream.rest());
      if (this.#fold.response() === undefined && this.#fold.error === undefined) this.#see(this.#stream.end());
    } else this.#readWhole(decoded ?? this.#collected.whole());
    if (!this.#over) this.#settle();
  }

  fail(failure: ExchangeFailure): void {
    if (this.#over || this.#cut) return;
    const error = failureError(failure, this.#options.deployment);
    const cancelled = failure.kind === 'aborted';
    this.#close(cancelled ? 'cancelled' : 'failed', cancelled ? 'client_closed' : failure.kind, cancelled ? null : error);
    this.#breakOff({ error, retryable: !cancelled && error.retryable });
  }

  #takenOver(): true {
    this.#over = true;
    this.#unlisten();
    this.#resolve({ ok: 'taken-over' });
    return true;
  }

  #see(events: readonly IrEvent[]): void {
    for (const event of events) {
      for (const changed of this.#filter.filter(event)) for (const out of this.#forms.filter(changed)) this.#tell(out);
    }
  }

  #tell(told: IrEvent): void {
    const event = told.type === 'part-delta' ? { ...told, text: this.#stream.long.textOf(told.text) } : told;
    this.#fold.push(event);
    this.#partial.see(event);
    this.#options.ask.onEvent(event);
  }

  #readWhole(body: Buffer): void {
    const said = body.toString('utf8').replace(/^\uFEFF/, '');
    const parsed = parseJson(said);
    if (!parsed.ok) return;
    const { target } = this.#options.route;
    this.#account.whole(parsed.value);
    try {
      this.#see(unfold(target.liftResponse(parsed.value)));
    } catch (thrown) {
      if (!(thrown instanceof EngineFailure)) throw thrown;
      this.#account.gaveUp();
      this.#account.lost();
      this.#failed(thrown.error, { ...target.observeBody(said), toolCalls: [] });
    }
  }

  #engineError(body: Buffer): IrError {
    return this.#options.route.target.liftError(this.#status, retryHints(this.#headers), body.toString('utf8'));
  }

  #settle(): void {
    const response = this.#fold.response();
    if (this.#fold.error !== undefined) this.#failed(this.#fold.error);
    else if (response === undefined) this.#failed({ kind: 'server', message: 'the answer has no end', status: this.#status });
    else {
      this.#close('completed', null, null, observedOf(response));
      this.#resolve({ ok: true, response });
    }
  }

  #failed({ kind, message, status, retryAfterMs }: IrError, observed?: Observed): void {
    const { engine } = this.#options.deployment;
    const error = new AbpError('engine_failed', `${engine.name}: ${message}`, {
      backend_id: `engine:${engine.id}`,
      kind,
      status,
    });
    this.#close('failed', 'engine_error', error, observed);
    this.#breakOff({ error, retryable: isTransient(kind), ...(retryAfterMs === undefined ? {} : { retryAfterMs }) });
  }

  #breakOff(how: Omit<BrokenOff, 'ok' | 'partial'>): void {
    const usage = this.#partial.usage(this.#options.body.length);
    this.#resolve({ ok: false, ...how, ...(usage !== undefined && { partial: { text: this.#partial.text, usage } }) });
  }

  /** For the receipt of an answer that has no end. */
  #soFar(): Pick<Ending, 'observed' | 'writtenTokens'> {
    const { begun, writtenTokens } = this.#partial;
    return { writtenTokens, ...(begun !== undefined && { observed: { usage: begun, toolCalls: [] } }) };
  }

  #record(): AnswerRecord {
    this.#account.headers(this.#headers);
    for (const { concept, note, as } of this.#filter.notes) this.#account.note(concept, note, as);
    return this.#account.record();
  }

  #close(status: 'completed' | 'failed' | 'cancelled', reason: string | null, error: AbpError | null, observed?: Observed): void {
    this.#over = true;
    this.#decoder?.stop();
    this.#unlisten();
    this.#collected.drop();
    const { recorder } = this.#options;
    recorder.lastByte();
    recorder.close({
      status,
      reason,
      error: error === null ? null : { code: error.code, message: error.message },
      response: this.#status === 0 ? null : { status: this.#status, ...this.#digest.done().digest },
      eventCount: this.#options.streamed ? this.#stream.count : Math.min(this.#status, 1),
      whole: this.#whole,
      cut: this.#cut,
      answer: this.#record(),
      ...(observed === undefined ? this.#soFar() : { observed }),
    });
  }
}
