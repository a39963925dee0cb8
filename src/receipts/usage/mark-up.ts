import { MarkRows, markedUpTo, saveMarks } from '../../store/receipts/mark-rows.ts';
import type { Store } from '../../store/store.ts';
import { countSealed, sealedReceipts } from '../../store/usage/rollups.ts';
import type { SealedUsage } from './sealed-usage.ts';

/** Receipts that get their marks in one transaction. */
const BATCH = 1000;
/** How long one look may take while others wait for the keeper; an old home gets its marks over many looks. */
const LOOK_MS = 100;
const EVERY_MS = 1000;
/** Receipts whose marks are kept until they are written; beyond that they are read from the database. */
const MOST_NOTED = 50_000;

/** Marks the receipts of a chain with what lists find them by, in the order in which they were sealed. */
export class MarkUp {
  readonly #store: Store;
  readonly #chain: number;
  #position: number | undefined;
  #lookedAt = Number.NEGATIVE_INFINITY;
  /** An earlier look ran out of time. */
  #behind = false;
  /** What was sealed since the last look, in this process. */
  #noted: { readonly rows: MarkRows; receipts: number; last: number } | undefined;

  constructor(store: Store, chain: number) {
    this.#store = store;
    this.#chain = chain;
  }

  /** Notes the marks of a batch, for the next look. */
  note({ marks, receipts, last }: SealedUsage): void {
    this.#noted ??= { rows: new MarkRows(), receipts: 0, last: 0 };
    this.#noted.rows.join(marks);
    this.#noted.receipts += receipts;
    this.#noted.last = last;
    if (this.#noted.receipts > MOST_NOTED) this.#noted = undefined;
  }

  /** Marks what is due. */
  async look(now = performance.now()): Promise<void> {
    if (!this.#behind && now - this.#lookedAt < EVERY_MS) return;
    this.#lookedAt = now;
    do this.#behind = await this.#batch();
    while (this.#behind && performance.now() - now < LOOK_MS);
  }

  /** Marks everything, however long it takes. */
  async catchUp(): Promise<void> {
    do this.#behind = await this.#batch();
    while (this.#behind);
  }

  /** Marks one batch; whether there is more. */
  async #batch(): Promise<boolean> {
    const from = this.#position ?? (await markedUpTo(this.#store, this.#chain));
    this.#position = from;
    const noted = this.#noted;
    this.#noted = undefined;
    if (noted !== undefined && (await countSealed(this.#store, this.#chain, from, noted.last)) === noted.receipts) {
      await this.#save(from, noted.last, noted.rows);
      return false;
    }
    const receipts = await sealedReceipts(this.#store, this.#chain, from, BATCH);
    const to = receipts.at(-1)?.sequence;
    if (to === undefined || to === null) return false;
    await this.#save(from, to, MarkRows.of(receipts));
    return receipts.length === BATCH;
  }

  async #save(from: number, to: number, rows: MarkRows): Promise<void> {
    // A write that failed may have arrived all the same: the database is asked again.
    this.#position = undefined;
    await saveMarks(this.#store, { chain: this.#chain, from, to, rows });
    this.#position = to;
  }
}
