import type { StoredReceipt } from '../../store/receipts/receipt-columns.ts';
import type { Store } from '../../store/store.ts';
import { countSealed, sealedReceipts } from '../../store/usage/rollups.ts';

/** Receipts that are written down in one transaction. */
const BATCH = 1000;

/** Reads receipts for all followers of a chain. In an old home they stand at the same place, and its receipts are then read once. */
export class SealedBatches {
  readonly #store: Store;
  readonly #chain: number;
  readonly #read = new Map<number, Promise<StoredReceipt[]>>();

  constructor(store: Store, chain: number) {
    this.#store = store;
    this.#chain = chain;
  }

  after(sequence: number): Promise<StoredReceipt[]> {
    const read = this.#read.get(sequence) ?? sealedReceipts(this.#store, this.#chain, sequence, BATCH);
    this.#read.set(sequence, read);
    return read;
  }
}

/** Parts of receipts that this process has sealed and noted, so that none of them is read back. */
export interface Noted<Part> {
  readonly receipts: number;
  /** The place of the last one in the chain. */
  readonly last: number;
  readonly part: () => Part | Promise<Part>;
}

/** Writes a part of every receipt of a chain down, in the order in which they were sealed. */
export abstract class ChainFollower<Part> {
  readonly store: Store;
  readonly chain: number;
  #position: number | undefined;

  constructor(store: Store, chain: number) {
    this.store = store;
    this.chain = chain;
  }

  /** The place that the follower has come to, by the database. */
  protected abstract upTo(): Promise<number>;
  /** Hands out what was noted since the last time, and forgets it. */
  protected abstract takeNoted(): Noted<Part> | undefined;
  protected abstract partOf(receipts: readonly StoredReceipt[]): Part | Promise<Part>;
  /** Writes a part down and moves the place on: both or neither, so that a killed keeper loses nothing and does nothing twice. */
  protected abstract save(from: number, to: number, part: Part): Promise<void>;

  /** Writes down what was noted, else a batch of the database; whether there is more. */
  async step(batches = new SealedBatches(this.store, this.chain)): Promise<boolean> {
    const from = this.#position ?? (await this.upTo());
    this.#position = from;
    const noted = this.takeNoted();
    // Another process may have sealed something in between: only what is all that follows this place can be taken.
    if (noted !== undefined && (await countSealed(this.store, this.chain, from, noted.last)) === noted.receipts) {
      await this.#save(from, noted.last, await noted.part());
      return false;
    }
    const receipts = await batches.after(from);
    const to = receipts.at(-1)?.sequence;
    if (to === undefined || to === null) return false;
    await this.#save(from, to, await this.partOf(receipts));
    return receipts.length === BATCH;
  }

  async #save(from: number, to: number, part: Part): Promise<void> {
    // A write that failed may have arrived all the same: the database is asked again.
    this.#position = undefined;
    await this.save(from, to, part);
    this.#position = to;
  }
}
