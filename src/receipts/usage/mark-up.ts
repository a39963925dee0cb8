import { MarkRows, markedUpTo, saveMarks } from '../../store/receipts/mark-rows.ts';
import type { StoredReceipt } from '../../store/receipts/receipt-columns.ts';
import { ChainFollower, type Noted } from './chain-follower.ts';
import type { SealedUsage } from './sealed-usage.ts';

/** Receipts whose marks are kept until they are written; beyond that they are read from the database. */
const MOST_NOTED = 50_000;

/** Marks the receipts of a chain with what lists find them by. */
export class MarkUp extends ChainFollower<MarkRows> {
  #noted: { readonly rows: MarkRows; receipts: number; last: number } | undefined;

  /** Notes the marks of a batch, for the next step. */
  note({ marks, receipts, last }: SealedUsage): void {
    this.#noted ??= { rows: new MarkRows(), receipts: 0, last: 0 };
    this.#noted.rows.join(marks);
    this.#noted.receipts += receipts;
    this.#noted.last = last;
    if (this.#noted.receipts > MOST_NOTED) this.#noted = undefined;
  }

  protected takeNoted(): Noted<MarkRows> | undefined {
    const noted = this.#noted;
    this.#noted = undefined;
    return noted && { ...noted, part: () => noted.rows };
  }

  protected upTo(): Promise<number> {
    return markedUpTo(this.store, this.chain);
  }

  protected partOf(receipts: readonly StoredReceipt[]): MarkRows {
    return MarkRows.of(receipts);
  }

  protected save(from: number, to: number, rows: MarkRows): Promise<void> {
    return saveMarks(this.store, { chain: this.chain, from, to, rows });
  }
}
