import type { Store } from '../../store/store.ts';
import { SealedBatches } from './chain-follower.ts';
import { MarkUp } from './mark-up.ts';
import { RollUp } from './roll-up.ts';
import type { SealedUsage } from './sealed-usage.ts';

/** How often is looked: often enough that a question finds little to count itself, seldom enough that rows are few. */
const EVERY_MS = 1000;
/** How long one look may take while others wait for the keeper; in an old home it takes many looks. */
const LOOK_MS = 300;

/** Those who follow the receipts of a chain: sums of usage, and marks that lists find receipts by. */
export class Followers {
  readonly #store: Store;
  readonly #chain: number;
  readonly #usage: RollUp;
  readonly #marks: MarkUp;
  #lookedAt = Number.NEGATIVE_INFINITY;
  /** An earlier look ran out of time. */
  #behind = false;

  constructor(store: Store, chain: number) {
    this.#store = store;
    this.#chain = chain;
    this.#usage = new RollUp(store, chain);
    this.#marks = new MarkUp(store, chain);
  }

  note(sealed: SealedUsage): void {
    this.#marks.note(sealed);
    this.#usage.note(sealed);
  }

  /** Writes down what is due. */
  async look(now = performance.now()): Promise<void> {
    if (!this.#behind && now - this.#lookedAt < EVERY_MS) return;
    this.#lookedAt = now;
    do this.#behind = await this.#step();
    while (this.#behind && performance.now() - now < LOOK_MS);
  }

  /** Writes down everything that is sealed, so that nothing of a receipt waits in memory while the receipt is removed. */
  async catchUp(): Promise<void> {
    do this.#behind = await this.#step();
    while (this.#behind);
  }

  /** Both in step, so that they need the same receipts at the same time. Whether there is more. */
  async #step(): Promise<boolean> {
    const batches = new SealedBatches(this.#store, this.#chain);
    const isUsageBehind = await this.#usage.step(batches);
    const areMarksBehind = await this.#marks.step(batches);
    return isUsageBehind || areMarksBehind;
  }
}
