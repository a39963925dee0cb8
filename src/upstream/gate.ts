import type { EngineNote, Exchange, ExchangeFailure, ExchangeRequest, ExchangeSink, FailureKind, Transport } from './exchange.ts';
import { KEY_REFUSED } from './load.ts';
import { retryAfterMs } from './retry-hints.ts';

/** Statuses after which another try may do better. */
const RETRYABLE: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504, 529]);
const RETRYABLE_KINDS: ReadonlySet<FailureKind> = new Set(['unreachable', 'timeout', 'broken', 'busy']);

/** Why an answer was turned down before its first byte reached the caller. */
export interface TurnedDown {
  readonly status: number | null;
  readonly message: string;
  /** The pause that the engine asks for, where it does. */
  readonly retryAfterMs: number | undefined;
  /** The engine does not take the key: the same one need not be tried again. */
  readonly keyRefused?: true;
}

/** Why an answer of this status is turned down; undefined where it is the caller's. */
export function turnedDown(status: number, headers: readonly string[]): TurnedDown | undefined {
  const keyRefused = KEY_REFUSED.has(status);
  if (!keyRefused && !RETRYABLE.has(status)) return undefined;
  const reason = { status, message: `the engine answered ${status}`, retryAfterMs: retryAfterMs(status, headers, Date.now()) };
  return keyRefused ? { ...reason, keyRefused } : reason;
}

/** The same for a call without an answer. */
export function failedBefore({ kind, message }: ExchangeFailure): TurnedDown | undefined {
  return RETRYABLE_KINDS.has(kind) ? { status: null, message, retryAfterMs: undefined } : undefined;
}

/** Whether another try takes the place of a failed one; a promise while that is being found out. */
export type TakeOver = (reason: TurnedDown) => boolean | Promise<boolean>;

/**
 * A transport whose failure before the first byte is shown to `takeOver` before the caller sees it. Where another try takes over, the
 * caller never hears of this one; where none can, the failed answer is the caller's as it came. What comes after the first byte is
 * the caller's in any case.
 */
export function gated(transport: Transport, takeOver: TakeOver): Transport {
  return (request: ExchangeRequest, sink: ExchangeSink): Exchange => {
    const gate = new Gate(sink, takeOver);
    gate.exchange = transport(request, gate);
    if (gate.state === 'given-up') gate.exchange.abort();
    return gate.exchange;
  };
}

/**
 * `waiting` for the first word of the engine; `held`: it failed, and nobody knows yet whether another try takes over; `open`: the
 * answer is the caller's; `given-up`: another try has taken over.
 */
type GateState = 'waiting' | 'held' | 'open' | 'given-up';

class Gate implements ExchangeSink {
  readonly #sink: ExchangeSink;
  readonly #takeOver: TakeOver;
  exchange: Exchange | undefined;
  state: GateState = 'waiting';
  /** The parts of an answer that is held. The engine is asked to pause, so that there are few. */
  #held: (() => void)[] = [];

  constructor(sink: ExchangeSink, takeOver: TakeOver) {
    this.#sink = sink;
    this.#takeOver = takeOver;
  }

  head(status: number, headers: readonly string[], note?: EngineNote): void {
    const pass = (): void => this.#sink.head(status, headers, note);
    const reason = turnedDown(status, headers);
    if (reason !== undefined) {
      this.#failed(reason, pass);
      return;
    }
    this.state = 'open';
    pass();
  }

  data(chunk: Buffer): boolean {
    if (this.state === 'open') return this.#sink.data(chunk);
    if (this.state === 'held') this.#held.push(() => this.#sink.data(chunk));
    return this.state !== 'held';
  }

  end(trailers: readonly string[]): void {
    if (this.state === 'open') this.#sink.end(trailers);
    else if (this.state === 'held') this.#held.push(() => this.#sink.end(trailers));
  }

  fail(failure: ExchangeFailure): void {
    if (this.state === 'given-up') return;
    const pass = (): void => this.#sink.fail(failure);
    const reason = failedBefore(failure);
    if (failure.kind === 'aborted' || this.state === 'open') {
      this.state = 'open';
      this.#held = [];
      pass();
    } else if (this.state === 'held') this.#held.push(pass);
    else if (reason !== undefined) this.#failed(reason, pass);
    else pass();
  }

  #failed(reason: TurnedDown, pass: () => void): void {
    this.state = 'held';
    this.#held.push(pass);
    const taken = this.#takeOver(reason);
    if (typeof taken === 'boolean') this.#decide(taken);
    else void taken.then((answer) => this.#decide(answer));
  }

  #decide(taken: boolean): void {
    // The caller may have left while the answer was held.
    if (this.state !== 'held') return;
    const held = this.#held;
    this.#held = [];
    this.state = taken ? 'given-up' : 'open';
    if (taken) {
      this.exchange?.abort();
      return;
    }
    for (const part of held) part();
    this.exchange?.resume();
  }
}
