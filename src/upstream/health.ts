import type { Clock } from '../base/clock.ts';
import type { FailureKind } from './exchange.ts';

/** When a run of failures makes an engine be left alone for a while. */
export interface BreakerPolicy {
  readonly failures: number;
  readonly openMs: number;
}

export type BreakerState = 'closed' | 'open' | 'half_open';

/** The health of an engine, known from the calls made to it. */
export interface EngineHealth {
  readonly state: BreakerState;
  readonly failuresInARow: number;
  readonly lastSuccessAt: number | null;
  readonly lastFailureAt: number | null;
  readonly lastFailure: string | null;
}

const COUNTED: ReadonlySet<FailureKind> = new Set(['unreachable', 'timeout', 'broken']);

/** Watches one engine. Without a policy it only watches; with one it also says when not to call. */
export class Health {
  readonly #policy: BreakerPolicy | undefined;
  readonly #clock: Clock;
  #failures = 0;
  #openedAt: number | undefined;
  #probing = false;
  #lastSuccessAt: number | null = null;
  #lastFailureAt: number | null = null;
  #lastFailure: string | null = null;

  constructor(policy: BreakerPolicy | undefined, clock: Clock) {
    this.#policy = policy;
    this.#clock = clock;
  }

  /** Whether a call may be made; while half open, one at a time. */
  admits(): boolean {
    const state = this.#state();
    if (state === 'closed') return true;
    if (state === 'open' || this.#probing) return false;
    this.#probing = true;
    return true;
  }

  /** It is left alone. */
  get isOpen(): boolean {
    return this.openFor(this.#clock.now()) > 0;
  }

  /** Milliseconds for which it is still left alone; 0 where it may be called. */
  openFor(now: number): number {
    return this.#policy === undefined || this.#openedAt === undefined ? 0 : Math.max(0, this.#openedAt + this.#policy.openMs - now);
  }

  /** The engine answered; statuses of 500 and above count as its failure. */
  answered(status: number): void {
    if (status >= 500) this.#fail(`status ${status}`);
    else this.#succeed();
  }

  failed(kind: FailureKind, message: string): void {
    if (COUNTED.has(kind)) this.#fail(message);
    else this.#probing = false;
  }

  snapshot(): EngineHealth {
    return {
      state: this.#state(),
      failuresInARow: this.#failures,
      lastSuccessAt: this.#lastSuccessAt,
      lastFailureAt: this.#lastFailureAt,
      lastFailure: this.#lastFailure,
    };
  }

  #state(): BreakerState {
    if (this.#policy === undefined || this.#openedAt === undefined) return 'closed';
    return this.isOpen ? 'open' : 'half_open';
  }

  #succeed(): void {
    this.#failures = 0;
    this.#openedAt = undefined;
    this.#probing = false;
    this.#lastSuccessAt = this.#clock.now();
  }

  #fail(message: string): void {
    this.#failures += 1;
    this.#probing = false;
    this.#lastFailureAt = this.#clock.now();
    this.#lastFailure = message;
    if (this.#policy !== undefined && this.#failures >= this.#policy.failures) this.#openedAt = this.#clock.now();
  }
}
