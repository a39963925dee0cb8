import { saveReceipts } from '../store/receipt-writer.ts';
import { listReceipts } from '../store/receipts.ts';
import type { Store } from '../store/store.ts';
import { interruptedReceipt, type Origin } from './build.ts';
import { receiptOfRow, storedReceipt } from './stored.ts';

/**
 * Ends the runs that an earlier process of this node left open. Called at start, after the old journals are drained and before the
 * first new run, so every running row of this node is an orphan.
 */
export async function closeInterrupted(store: Store, origin: Origin, now: number): Promise<number> {
  let closed = 0;
  let cursor: string | undefined;
  do {
    const page = await listReceipts(store, { status: 'running', limit: 500, ...(cursor === undefined ? {} : { cursor }) });
    const mine = page.items.map(receiptOfRow).filter((receipt) => receipt.node === origin.node);
    if (mine.length > 0) {
      const ended = mine.map((receipt) => storedReceipt(interruptedReceipt(receipt, now)));
      await saveReceipts(store, ended, { segment: 'interrupted', node: origin.node, position: 0 });
    }
    closed += mine.length;
    cursor = page.next_cursor;
  } while (cursor !== undefined);
  return closed;
}
