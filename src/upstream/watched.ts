import type { EngineNote, Exchange, ExchangeFailure, ExchangeRequest, ExchangeSink, Splice, SpliceSink, Transport } from './exchange.ts';
import type { Health } from './health.ts';
import type { Load } from './load.ts';
import { LIMITED, retryAfterMs } from './retry-hints.ts';
import { pauseIn } from './told-pause.ts';

/** Who hears how calls to one deployment of an engine fare. */
export interface Watchers {
  readonly health?: Health | undefined;
  /** Where the engine has several deployments. */
  readonly load?: Load | undefined;
}

/** A transport that reports how its engine fares, and refuses at once while the engine is left alone. */
export function watched(transport: Transport, { health, load }: Watchers): Transport {
  if (health === undefined && load === undefined) return transport;
  return (request: ExchangeRequest, sink: ExchangeSink): Exchange => {
    if (health === undefined || health.admits()) {
      const question = load?.begin();
      return transport(request, new WatchedSink(sink, { health, load }, request.model ?? null, question));
    }
    sink.fail({
      kind: 'unreachable',
      message: `it failed too often and is left alone for a while (last: ${health.snapshot().lastFailure})`,
    });
    return { abort: () => undefined, resume: () => undefined };
  };
}

/** A refusal whose body may name the pause is read before anybody hears of it, up to this size and for this long. */
const MOST_HELD = 16 * 1024;
const MOST_HELD_MS = 1000;

/** A refusal that is being read. */
interface HeldRefusal {
  readonly headers: readonly string[];
  readonly note: EngineNote | undefined;
  readonly chunks: Buffer[];
  readonly timer: NodeJS.Timeout;
  size: number;
}

class WatchedSink implements ExchangeSink {
  readonly #sink: ExchangeSink;
  readonly #health: Health | undefined;
  readonly #load: Load | undefined;
  readonly #model: string | null;
  /** The number of the call among the questions to its deployment. */
  readonly #question: number | undefined;
  /** Counted as over: an end may be followed by the word that the caller left. */
  #over = false;
  #refusal: HeldRefusal | undefined;

  constructor(sink: ExchangeSink, { health, load }: Watchers, model: string | null, question: number | undefined) {
    this.#sink = sink;
    this.#health = health;
    this.#load = load;
    this.#model = model;
    this.#question = question;
  }

  head(status: number, headers: readonly string[], note?: EngineNote): void {
    this.#health?.answered(status);
    if (this.#load !== undefined && status === LIMITED && retryAfterMs(status, headers, Date.now()) === undefined) {
      const timer = setTimeout(() => this.#tellRefusal(), MOST_HELD_MS);
      this.#refusal = { headers, note, chunks: [], timer, size: 0 };
      return;
    }
    this.#load?.answered(status, headers, this.#model, this.#question);
    this.#sink.head(status, headers, note);
  }

  data(chunk: Buffer): boolean {
    const refusal = this.#refusal;
    if (refusal === undefined) return this.#sink.data(chunk);
    refusal.chunks.push(chunk);
    refusal.size += chunk.length;
    if (refusal.size > MOST_HELD) this.#tellRefusal();
    return true;
  }

  /** Passes on what was held, once the deployment is known to rest as long as it asks. */
  #tellRefusal(): void {
    const refusal = this.#refusal;
    if (refusal === undefined) return;
    this.#refusal = undefined;
    const { headers, note, chunks, timer } = refusal;
    clearTimeout(timer);
    const pause = pauseIn(headers, Buffer.concat(chunks));
    const told = pause === undefined ? headers : [...headers, 'retry-after-ms', String(pause)];
    this.#load?.answered(LIMITED, told, this.#model, this.#question);
    this.#sink.head(LIMITED, headers, note);
    for (const chunk of chunks) this.#sink.data(chunk);
  }

  end(trailers: readonly string[]): void {
    this.#tellRefusal();
    this.#finish();
    this.#sink.end(trailers);
  }

  fail(failure: ExchangeFailure): void {
    this.#tellRefusal();
    this.#health?.failed(failure.kind, failure.message);
    this.#load?.failed(failure.kind, this.#question);
    this.#finish();
    this.#sink.fail(failure);
  }

  #finish(): void {
    if (!this.#over) this.#load?.end();
    this.#over = true;
  }
}

/** The status of an answer that agrees to leave HTTP. */
const SWITCHED = 101;

/** The same for connections that leave HTTP: one counts until it is closed. */
export function watchedSplice(splice: Splice, load: Load | undefined): Splice {
  if (load === undefined) return splice;
  return (request, sink) => {
    return splice(request, countedSink(sink, load, load.begin()));
  };
}

function countedSink(sink: SpliceSink, load: Load, question: number): SpliceSink {
  return {
    open: (headers, socket) => {
      load.answered(SWITCHED, headers, null, question);
      socket.once('close', () => load.end());
      sink.open(headers, socket);
    },
    refuse: (status, headers, body) => {
      load.answered(status, headers, null, question);
      load.end();
      sink.refuse(status, headers, body);
    },
    fail: (failure) => {
      load.failed(failure.kind, question);
      load.end();
      sink.fail(failure);
    },
  };
}
