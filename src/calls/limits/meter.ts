const MINUTE_MS = 60_000;

/**
 * How much of something was used within the last minute. Use runs off evenly, so that the whole measure is there again a minute after it
 * was used up at once. Two numbers, whatever the traffic.
 */
export class Meter {
  readonly limit: number;
  /** When all that was used has run off. */
  #emptyAt = 0;

  constructor(limit: number) {
    this.limit = limit;
  }

  used(now: number): number {
    return (Math.max(0, this.#emptyAt - now) * this.limit) / MINUTE_MS;
  }

  /** The amount that fits at this moment, in whole numbers. */
  left(now: number): number {
    return Math.max(0, Math.floor(this.limit - this.used(now)));
  }

  /** Milliseconds until this much fits; 0 where it does. More than the whole measure fits once nothing is used. */
  waitFor(amount: number, now: number): number {
    const excess = this.used(now) + Math.min(amount, this.limit) - this.limit;
    // A rounding error must not refuse the last one that fits.
    return excess <= 1e-6 ? 0 : Math.ceil((excess * MINUTE_MS) / this.limit);
  }

  /** Uses some of it; a negative amount gives some back. */
  use(amount: number, now: number): void {
    this.#emptyAt = Math.max(now, Math.max(now, this.#emptyAt) + (amount * MINUTE_MS) / this.limit);
  }
}
