/** Neighbouring steps differ by two percent, which is as exact as a figure on a page is read. */
const STEP = Math.log(1.02);

/** Quantiles of many durations in little memory: values are counted by their size, rounded to two percent. */
export class Quantiles {
  readonly #counts = new Map<number, number>();
  #many = 0;

  add(value: number): void {
    const step = Math.round(Math.log(Math.max(value, 0.001)) / STEP);
    this.#counts.set(step, (this.#counts.get(step) ?? 0) + 1);
    this.#many += 1;
  }

  /** The value below which this share of all values lies; null when there are none. */
  at(share: number): number | null {
    if (this.#many === 0) return null;
    let left = Math.max(1, Math.ceil(this.#many * share));
    for (const step of [...this.#counts.keys()].sort((a, b) => a - b)) {
      left -= this.#counts.get(step) ?? 0;
      if (left <= 0) return Math.round(Math.exp(step * STEP) * 1000) / 1000;
    }
    return null;
  }
}
