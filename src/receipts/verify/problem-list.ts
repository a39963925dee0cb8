import type { ChainProblem } from '../../contract/receipts/chain-verification.ts';

/** More than this nobody reads. */
const MOST_SHOWN = 100;

/** Problems as they are found: all are counted, the first ones kept. */
export class ProblemList {
  readonly #shown: ChainProblem[] = [];
  #count = 0;

  add(problem: ChainProblem): void {
    this.#count += 1;
    if (this.#shown.length < MOST_SHOWN) this.#shown.push(problem);
  }

  get shown(): ChainProblem[] {
    return this.#shown;
  }

  get count(): number {
    return this.#count;
  }
}
