import type { AbpError } from '../../contract/errors.ts';
import type { Observed } from '../../dialects/dialect.ts';
import type { EngineNote, Exchange, ExchangeFailure, ExchangeRequest, ExchangeSink } from '../../upstream/exchange.ts';
import type { TakeOver } from '../../upstream/gate.ts';
import type { Admitted } from '../admission.ts';
import type { Holding } from '../bounds/body-budget.ts';
import type { Deployment } from '../deployment.ts';
import { failureError } from '../failure.ts';
import { downstreamHeaders, encodingOf, headerOf } from '../headers.ts';
import { type CountedResults, uncounted } from '../meters/counted-results.ts';
import type { Answered } from '../meters/meter.ts';
import type { Recorder } from '../recorder.ts';
import type { Answer } from './answer.ts';
import type { AnswerReader } from './seen-answer.ts';
import { ToolGate, type ToolGateOptions } from './tool-gate.ts';
import { type ReadAside, Watch, type Watched } from './watch.ts';

/** A call whose bytes pass unchanged. Without the request: its body must not live as long as a slow stream. */
export interface RelayOptions {
  readonly admitted: Admitted;
  /** Rules about tools that the answer is held to. */
  readonly gate?: ToolGateOptions | undefined;
  readonly deployment: Deployment;
  /** Who reads what the answer tells of its use; nobody where it can tell nothing. */
  readonly reader: AnswerReader | undefined;
  /** Puts what was seen of a good answer together with what its request says. */
  /** Whether use that the vendor tells as often as it is asked is to be counted now. */
  readonly claim: CountedResults['claim'];
  /** The answer is about earlier work, which may be told whole and counts once, or not at all. */
  readonly retold?: boolean | undefined;
  readonly complete?: ((seen: Observed, answered: Answered) => Promise<Observed>) | undefined;
  readonly answer: Answer;
  readonly recorder: Recorder;
  /** Memory for what must be read of the answer. */
  readonly holding: Holding;
  /** Reads a long answer on another thread. */
  readonly aside: ReadAside;
  /** Asked at a failure before the first byte, where the route allows another try. */
  readonly takeOver?: TakeOver | undefined;
  /** A recorder of a finished run failed to read its answer: a fault to log, never the caller's. */
  readonly onFault: (error: unknown) => void;
  /** The engine has the request body, or will never get it: the buffer is no longer held for this call. */
  readonly onTaken: () => void;
}

/** Sends the request and relays the answer byte for byte, watching on the side. The caller cancels through the returned handle. */
export function relay(request: ExchangeRequest, options: RelayOptions): Exchange {
  const call = new Relay(options);
  options.recorder.dispatched(options.deployment);
  options.answer.from(options.deployment, options.recorder.tries);
  return call.start(request);
}

class Relay implements ExchangeSink, Exchange {
  readonly #options: RelayOptions;
  #exchange: Exchange | undefined;
  /** Lets no call of a denied tool through. */
  #gate: ToolGate | undefined;
  #watch: Watch | undefined;
  #status = 0;
  #headers: readonly string[] = [];
  /** Bytes of the body that are still to come, where the engine says how many there are. */
  #missing = Number.POSITIVE_INFINITY;
  /** The end of a body of known length, held back until the journal has the end of the run. */
  #last: Buffer | undefined;
  /** The caller has the headers. */
  #begun = false;
  #taken = false;
  #over = false;
  /** The answer came to its end. */
  #whole = false;

  constructor(options: RelayOptions) {
    this.#options = options;
  }

  start(request: ExchangeRequest): Exchange {
    const { admitted, gate, takeOver } = this.#options;
    this.#gate = gate === undefined ? undefined : new ToolGate(gate, this, () => this.abort());
    this.#exchange = admitted.send(request, this.#gate ?? this, takeOver);
    return this;
  }

  abort(): void {
    this.#exchange?.abort();
  }

  resume(): void {
    this.#exchange?.resume();
  }

  head(status: number, headers: readonly string[], note?: EngineNote): void {
    this.#take();
    this.#status = status;
    this.#headers = headers;
    this.#missing = lengthOf(headers);
    this.#options.recorder.firstByte(status, note);
    this.#options.recorder.tape?.engine.head(status, headers);
    process.nextTick(beginUnlessWhole, this);
  }

  data(chunk: Buffer): boolean {
    this.#options.recorder.tape?.engine.chunk(chunk);
    this.#missing -= chunk.length;
    if (this.#missing <= 0) {
      this.#last = chunk;
      return true;
    }
    this.begin();
    const flowing = this.#options.answer.write(chunk);
    this.#watching().chunk(chunk);
    return flowing;
  }

  /** Sends the headers, unless the whole answer is here: then all goes out at once, after the journal. */
  begin(): void {
    if (this.#begun || this.#last !== undefined || this.#over) return;
    this.#begun = true;
    this.#options.answer.head(this.#status, downstreamHeaders(this.#headers));
  }

  end(trailers: readonly string[]): void {
    if (!this.#finish()) return;
    const { answer, recorder, onFault } = this.#options;
    recorder.lastByte();
    recorder.tape?.engine.trailers(trailers);
    this.#whole = true;
    const refusal = this.#gate?.refusal ?? null;
    const failed = this.#status >= 400 || refusal !== null;
    // Journaled first: a caller who has a whole answer finds its receipt, even when this process is killed the moment after.
    recorder.ending({
      record: () => this.#settle(failed ? 'failed' : 'completed', failed ? (refusal === null ? 'engine_error' : 'policy') : null, refusal),
      proceed: () => {
        if (!this.#begun) answer.head(this.#status, downstreamHeaders(this.#headers));
        answer.end(trailers, this.#last);
      },
      fail: (fault) => {
        onFault(fault);
        answer.abandon();
      },
    });
  }

  fail(failure: ExchangeFailure): void {
    if (!this.#finish()) return;
    this.#options.recorder.lastByte();
    const { answer, recorder } = this.#options;
    const error = failureError(failure, this.#options.deployment);
    if (failure.kind === 'aborted') {
      this.#settle('cancelled', 'client_closed', null);
    } else if (this.#status === 0) {
      this.#options.holding.release();
      recorder.close({
        status: 'failed',
        reason: failure.kind,
        error: { code: error.code, message: error.message },
        response: null,
        eventCount: 0,
      });
      answer.refuse(error);
    } else {
      answer.abandon();
      this.#settle('failed', failure.kind, error);
    }
  }

  #take(): void {
    if (!this.#taken) this.#options.onTaken();
    this.#taken = true;
  }

  /** False when the call is over already: a caller who leaves at the last byte must not end it twice. */
  #finish(): boolean {
    if (this.#over) return false;
    this.#over = true;
    this.#take();
    return true;
  }

  /** Writes down how the run ended; an answer that takes time to read is read off the caller's path. */
  #settle(status: 'completed' | 'failed' | 'cancelled', reason: string | null, error: AbpError | null): void {
    const { recorder, onFault } = this.#options;
    const known = error === null ? null : { code: error.code, message: error.message };
    if (this.#status === 0) {
      this.#options.holding.release();
      recorder.close({ status, reason, error: known, response: null, eventCount: 0 });
      return;
    }
    const close = ({ digest, eventCount, observed, writtenTokens = 0 }: Watched): void => {
      const broken = observed.error !== undefined && status === 'completed';
      recorder.close({
        status: broken ? 'failed' : status,
        reason: broken ? 'engine_error' : reason,
        error: broken || (status === 'failed' && known === null) ? engineError(observed.error, this.#status) : known,
        response: { ...digest, status: this.#status },
        eventCount,
        observed,
        ...(this.#status < 400 && !broken && this.#options.reader !== undefined && this.#options.retold !== true ? { writtenTokens } : {}),
        whole: this.#whole,
      });
    };
    const watch = this.#watching();
    if (this.#last !== undefined) watch.chunk(this.#last);
    const watched = this.#completed(watch.done(this.#whole));
    if (watched instanceof Promise) watched.then(close).catch(onFault);
    else close(watched);
  }

  #completed(watched: Watched | Promise<Watched>): Watched | Promise<Watched> {
    if (this.#status >= 400) return watched;
    const isPlain = this.#options.complete === undefined && !(watched instanceof Promise) && watched.observed.once === undefined;
    return isPlain ? watched : this.#completing(watched);
  }

  async #completing(watched: Watched | Promise<Watched>): Promise<Watched> {
    const { complete, claim, retold } = this.#options;
    const seen = await watched;
    const contentType = headerOf(this.#headers, 'content-type') ?? '';
    const observed = (await complete?.(seen.observed, { contentType, bytes: seen.digest.bytes })) ?? seen.observed;
    if (observed.once === undefined) return { ...seen, observed };
    // Of a part of a result nobody knows which rows it holds.
    const isFirst = this.#status === WHOLE && (await claim(observed.once));
    // Who asked for the work pays for it, whether or not that could be noted.
    const isCounted = isFirst || retold !== true;
    return { ...seen, observed: isCounted ? observed : uncounted(observed) };
  }

  #watching(): Watch {
    const { reader, holding, aside } = this.#options;
    this.#watch ??= new Watch({
      reader,
      contentType: headerOf(this.#headers, 'content-type') ?? '',
      encoding: encodingOf(this.#headers),
      holding,
      aside,
    });
    return this.#watch;
  }
}

/** The status of an answer that is no part of another. */
const WHOLE = 200;

function beginUnlessWhole(relay: Relay): void {
  relay.begin();
}

/** Length of the body; infinite for a stream. */
function lengthOf(headers: readonly string[]): number {
  const length = Number(headerOf(headers, 'content-length') ?? Number.NaN);
  return Number.isSafeInteger(length) ? length : Number.POSITIVE_INFINITY;
}

function engineError(message: string | undefined, status: number): { code: string; message: string } {
  return { code: 'engine_failed', message: message ?? `the engine answered ${status}` };
}
