import type { Store } from '../../store/store.ts';
import { rolledUpTo, saveRollups, sealedReceipts } from '../../store/usage/rollups.ts';
import { callsIn, mergeRollups, rollupsOf } from './call-usage.ts';

/** Receipts that are added up in one transaction. */
const BATCH = 1000;
/** How long one look may take while others wait for the keeper; an old home is added up over many looks. */
const LOOK_MS = 200;
/** How often is looked: often enough that a question finds little to count itself, seldom enough that rows are few. */
const EVERY_MS = 1000;

/** Adds the receipts of a chain to the sums of usage, in the order in which they were sealed. */
export class RollUp {
  readonly #store: Store;
  readonly #chain: number;
  #position: number | undefined;
  #lookedAt = Number.NEGATIVE_INFINITY;
  /** An earlier look ran out of time. */
  #behind = false;

  constructor(store: Store, chain: number) {
    this.#store = store;
    this.#chain = chain;
  }

  /** Adds what is due. */
  async look(now = performance.now()): Promise<void> {
    if (!this.#behind && now - this.#lookedAt < EVERY_MS) return;
    this.#lookedAt = now;
    do this.#behind = await this.#batch();
    while (this.#behind && performance.now() - now < LOOK_MS);
  }

  /** Adds one batch; whether there is more. */
  async #batch(): Promise<boolean> {
    const from = this.#position ?? (await rolledUpTo(this.#store, this.#chain));
    const receipts = await sealedReceipts(this.#store, this.#chain, from, BATCH);
    const to = receipts.at(-1)?.sequence;
    this.#position = from;
    if (to === undefined || to === null) return false;
    const added = rollupsOf(await callsIn(this.#store, receipts));
    try {
      await saveRollups(this.#store, { chain: this.#chain, from, to, added, merge: mergeRollups });
    } catch (error) {
      // A write that failed may have arrived all the same: the database is asked again.
      this.#position = undefined;
      throw error;
    }
    this.#position = to;
    return receipts.length === BATCH;
  }
}
