import type { EngineNote, Exchange, ExchangeFailure, ExchangeRequest, ExchangeSink, FailureKind, Transport } from './exchange.ts';

/** Why an answer was turned down before its first byte reached the caller. */
export interface TurnedDown {
  readonly status: number | null;
  readonly message: string;
  /** The pause that the engine asks for, where it does. */
  readonly retryAfterMs: number | undefined;
}

/** Statuses after which another try may do better. */
const RETRYABLE: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504, 529]);
const RETRYABLE_KINDS: ReadonlySet<FailureKind> = new Set(['unreachable', 'timeout', 'broken', 'busy']);

/**
 * A transport whose first failure goes to `onTurnedDown` instead of the caller, as long as nothing has been delivered. What comes
 * after the first byte is the caller's, good or bad.
 */
export function gated(transport: Transport, onTurnedDown: (reason: TurnedDown) => void): Transport {
  return (request: ExchangeRequest, sink: ExchangeSink): Exchange => {
    const gate = new Gate(sink, onTurnedDown);
    gate.exchange = transport(request, gate);
    if (gate.turnedDown) gate.exchange.abort();
    return gate.exchange;
  };
}

class Gate implements ExchangeSink {
  readonly #sink: ExchangeSink;
  readonly #onTurnedDown: (reason: TurnedDown) => void;
  exchange: Exchange | undefined;
  turnedDown = false;
  #open = false;

  constructor(sink: ExchangeSink, onTurnedDown: (reason: TurnedDown) => void) {
    this.#sink = sink;
    this.#onTurnedDown = onTurnedDown;
  }

  head(status: number, headers: readonly string[], note?: EngineNote): void {
    if (RETRYABLE.has(status)) {
      this.#turnDown({ status, message: `the engine answered ${status}`, retryAfterMs: retryAfter(headers) });
      this.exchange?.abort();
      return;
    }
    this.#open = true;
    this.#sink.head(status, headers, note);
  }

  data(chunk: Buffer): boolean {
    return this.turnedDown ? true : this.#sink.data(chunk);
  }

  end(trailers: readonly string[]): void {
    if (!this.turnedDown) this.#sink.end(trailers);
  }

  fail(failure: ExchangeFailure): void {
    if (this.turnedDown) return;
    if (this.#open || !RETRYABLE_KINDS.has(failure.kind)) this.#sink.fail(failure);
    else this.#turnDown({ status: null, message: failure.message, retryAfterMs: undefined });
  }

  #turnDown(reason: TurnedDown): void {
    this.turnedDown = true;
    this.#onTurnedDown(reason);
  }
}

/** `retry-after` in seconds; dates are not worth a guess at two clocks. */
function retryAfter(headers: readonly string[]): number | undefined {
  const at = headers.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === 'retry-after');
  const seconds = at === -1 ? Number.NaN : Number(headers[at + 1]);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : undefined;
}
