import type { Exchange, ExchangeFailure, ExchangeRequest, ExchangeSink, Transport } from './exchange.ts';
import type { Health } from './health.ts';

/** A transport that reports how its engine fares, and refuses at once while the engine is left alone. */
export function watched(transport: Transport, health: Health): Transport {
  return (request: ExchangeRequest, sink: ExchangeSink): Exchange => {
    if (health.admits()) return transport(request, new WatchedSink(sink, health));
    sink.fail({
      kind: 'unreachable',
      message: `it failed too often and is left alone for a while (last: ${health.snapshot().lastFailure})`,
    });
    return { abort: () => undefined, resume: () => undefined };
  };
}

class WatchedSink implements ExchangeSink {
  readonly #sink: ExchangeSink;
  readonly #health: Health;

  constructor(sink: ExchangeSink, health: Health) {
    this.#sink = sink;
    this.#health = health;
  }

  head(status: number, headers: readonly string[]): void {
    this.#health.answered(status);
    this.#sink.head(status, headers);
  }

  data(chunk: Buffer): boolean {
    return this.#sink.data(chunk);
  }

  end(trailers: readonly string[]): void {
    this.#sink.end(trailers);
  }

  fail(failure: ExchangeFailure): void {
    this.#health.failed(failure.kind, failure.message);
    this.#sink.fail(failure);
  }
}
