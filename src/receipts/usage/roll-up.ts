import type { Store } from '../../store/store.ts';
import { countSealed, rolledUpTo, saveRollups, sealedReceipts } from '../../store/usage/rollups.ts';
import { callsIn } from './call-usage.ts';
import type { SealedUsage } from './sealed-usage.ts';
import { mergeRollups, UsageSums } from './usage-sums.ts';

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
  /** What was sealed since the last look, in this process. */
  #sealed: SealedUsage | undefined;

  constructor(store: Store, chain: number) {
    this.#store = store;
    this.#chain = chain;
  }

  /** Notes what a batch adds, for the next look. */
  note(sealed: SealedUsage): void {
    if (this.#sealed === undefined) this.#sealed = sealed;
    else this.#sealed.join(sealed);
    if (this.#sealed.isFull) this.#sealed = undefined;
  }

  /** Adds what is due. */
  async look(now = performance.now()): Promise<void> {
    if (!this.#behind && now - this.#lookedAt < EVERY_MS) return;
    this.#lookedAt = now;
    do this.#behind = await this.#batch();
    while (this.#behind && performance.now() - now < LOOK_MS);
  }

  /** Adds everything, however long it takes. */
  async catchUp(): Promise<void> {
    do this.#behind = await this.#batch();
    while (this.#behind);
  }

  /** Adds one batch; whether there is more. */
  async #batch(): Promise<boolean> {
    const from = this.#position ?? (await rolledUpTo(this.#store, this.#chain));
    this.#position = from;
    const noted = await this.#noted(from);
    if (noted !== undefined) {
      await this.#save(from, noted.to, noted.sums);
      return false;
    }
    const receipts = await sealedReceipts(this.#store, this.#chain, from, BATCH);
    const to = receipts.at(-1)?.sequence;
    if (to === undefined || to === null) return false;
    const sums = new UsageSums();
    for (const call of await callsIn(this.#store, receipts)) sums.add(call);
    await this.#save(from, to, sums);
    return receipts.length === BATCH;
  }

  /** What was noted, where it is all that follows this place in the chain; receipts that were sealed in another way are read. */
  async #noted(from: number): Promise<{ readonly to: number; readonly sums: UsageSums } | undefined> {
    const sealed = this.#sealed;
    this.#sealed = undefined;
    if (sealed === undefined || (await countSealed(this.#store, this.#chain, from, sealed.last)) !== sealed.receipts) return undefined;
    return { to: sealed.last, sums: await sealed.sums(this.#store) };
  }

  async #save(from: number, to: number, sums: UsageSums): Promise<void> {
    try {
      await saveRollups(this.#store, { chain: this.#chain, from, to, added: sums.rollups(), merge: mergeRollups });
    } catch (error) {
      // A write that failed may have arrived all the same: the database is asked again.
      this.#position = undefined;
      throw error;
    }
    this.#position = to;
  }
}
