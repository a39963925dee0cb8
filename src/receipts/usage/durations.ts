/** Neighbouring steps differ by five percent: a quantile is told to within two and a half, as exactly as a figure on a page is read. */
const STEP = Math.log(1.05);

/** Many durations in little memory: they are counted by their size, so that quantiles of any sum of them can be told. */
export class Durations {
  readonly #counts = new Map<number, number>();
  #many = 0;

  /** Reads what `text` wrote. */
  static of(text: string): Durations {
    const durations = new Durations();
    durations.read(text);
    return durations;
  }

  add(ms: number): void {
    this.#count(Math.round(Math.log(Math.max(ms, 0.001)) / STEP), 1);
  }

  /** Adds those that a text holds. */
  read(text: string): void {
    this.#readAs(text, 1);
  }

  /** Takes those out that a text holds. They may be added later: until then there are fewer of them than none. */
  take(text: string): void {
    this.#readAs(text, -1);
  }

  #readAs(text: string, sign: 1 | -1): void {
    if (text === '') return;
    for (const pair of text.split(' ')) {
      const colon = pair.indexOf(':');
      this.#count(Number(pair.slice(0, colon)), sign * Number(pair.slice(colon + 1)));
    }
  }

  /** Adds those of others. */
  join(others: Durations): void {
    for (const [step, many] of others.#counts) this.#count(step, many);
  }

  #count(step: number, many: number): void {
    this.#counts.set(step, (this.#counts.get(step) ?? 0) + many);
    this.#many += many;
  }

  /** `step:count` with spaces between them. */
  text(): string {
    return this.#steps()
      .map((step) => `${step}:${this.#counts.get(step)}`)
      .join(' ');
  }

  /** The duration below which this share of all lies; null when there are none. */
  at(share: number): number | null {
    if (this.#many <= 0) return null;
    let left = Math.max(1, Math.ceil(this.#many * share));
    for (const step of this.#steps()) {
      left -= this.#counts.get(step) ?? 0;
      if (left <= 0) return Math.round(Math.exp(step * STEP) * 1000) / 1000;
    }
    return null;
  }

  #steps(): number[] {
    return [...this.#counts].flatMap(([step, many]) => (many === 0 ? [] : [step])).sort((a, b) => a - b);
  }
}
