import { saveReceipts } from '../store/receipt-writer.ts';
import { listReceipts } from '../store/receipts.ts';
import type { Store } from '../store/store.ts';
import { interruption, type Origin } from './build.ts';
import { closedRow, openingOf } from './stored.ts';

/**
 * Ends the runs that an earlier process of this node left open. Called at start, after the old journals are drained and before the
 * first new run, so every running row of this node is an orphan.
 */
export async function closeInterrupted(store: Store, origin: Origin, now: number): Promise<number> {
  const close = interruption(now);
  let closed = 0;
  let cursor: string | undefined;
  do {
    const page = await listReceipts(store, { unfinished: true, limit: 500, ...(cursor === undefined ? {} : { cursor }) });
    const mine = page.items.map(openingOf).filter((opening) => opening.origin.node === origin.node);
    if (mine.length > 0) {
      const ended = mine.map((opening) => closedRow(opening.open, close, opening.origin));
      await saveReceipts(store, ended, { segment: 'interrupted', node: origin.node, position: 0 });
    }
    closed += mine.length;
    cursor = page.next_cursor;
  } while (cursor !== undefined);
  return closed;
}
