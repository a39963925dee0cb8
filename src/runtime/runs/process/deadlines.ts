/** Longer timers fire at once. */
const LONGEST_MS = 2 ** 31 - 1;

export interface DeadlineOptions {
  /** Milliseconds the run may take; 0 or undefined is for ever. */
  readonly totalMs: number | undefined;
  /** Milliseconds the agent may be silent. */
  readonly silenceMs: number | undefined;
  onExpired(kind: 'run' | 'inactivity'): void;
}

/** The two clocks of a run. Silence is not counted while the run stands still or waits for a person. */
export class Deadlines {
  readonly #options: DeadlineOptions;
  #total: NodeJS.Timeout | undefined;
  #silence: NodeJS.Timeout | undefined;
  #held = 0;

  constructor(options: DeadlineOptions) {
    this.#options = options;
  }

  start(): void {
    const { totalMs } = this.#options;
    if (totalMs !== undefined && totalMs > 0) this.#total = setTimeout(() => this.#options.onExpired('run'), Math.min(totalMs, LONGEST_MS));
    this.heard();
  }

  /** The agent said something. */
  heard(): void {
    const { silenceMs } = this.#options;
    if (silenceMs === undefined || silenceMs === 0 || this.#held > 0) return;
    // A busy agent is heard a thousand times a second: the timer is moved, not made anew.
    if (this.#silence === undefined)
      this.#silence = setTimeout(() => this.#options.onExpired('inactivity'), Math.min(silenceMs, LONGEST_MS));
    else this.#silence.refresh();
  }

  hold(): void {
    this.#held += 1;
    clearTimeout(this.#silence);
    this.#silence = undefined;
  }

  release(): void {
    this.#held = Math.max(0, this.#held - 1);
    this.heard();
  }

  stop(): void {
    clearTimeout(this.#total);
    clearTimeout(this.#silence);
    this.#held = Number.POSITIVE_INFINITY;
  }
}
