import { type MarkedRun, markedUpTo, saveMarks } from '../../store/receipts/mark-rows.ts';
import { marksOf } from '../../store/receipts/marks.ts';
import { runKey, type StoredReceipt } from '../../store/receipts/receipt-columns.ts';
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
  #noted: { readonly runs: MarkedRun[]; receipts: number; last: number } | undefined;

  constructor(store: Store, chain: number) {
    this.#store = store;
    this.#chain = chain;
  }

  /** Notes the marks of a batch, for the next look. */
  note({ marked, receipts, last }: SealedUsage): void {
    this.#noted ??= { runs: [], receipts: 0, last: 0 };
    this.#noted.runs.push(...marked);
    this.#noted.receipts += receipts;
    this.#noted.last = last;
    if (this.#noted.runs.length > MOST_NOTED) this.#noted = undefined;
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
      await this.#save(from, noted.last, noted.runs);
      return false;
    }
    const receipts = await sealedReceipts(this.#store, this.#chain, from, BATCH);
    const to = receipts.at(-1)?.sequence;
    if (to === undefined || to === null) return false;
    await this.#save(from, to, receipts.map(markedRun));
    return receipts.length === BATCH;
  }

  async #save(from: number, to: number, runs: readonly MarkedRun[]): Promise<void> {
    // A write that failed may have arrived all the same: the database is asked again.
    this.#position = undefined;
    await saveMarks(this.#store, { chain: this.#chain, from, to, runs });
    this.#position = to;
  }
}

function markedRun(receipt: StoredReceipt): MarkedRun {
  return { ...marksOf(receipt, receipt.document), runKey: runKey(receipt.runId), startedAt: receipt.startedAt };
}
