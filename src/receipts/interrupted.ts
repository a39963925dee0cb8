import type { RunId } from '../contract/run-id.ts';
import { listReceipts } from '../store/receipts.ts';
import type { Store } from '../store/store.ts';
import type { BodyKeeper } from './bodies/keeper.ts';
import { interruption, type Origin } from './build.ts';
import type { Chain } from './chain.ts';
import { type CloseTexts, responseText } from './fact-line.ts';
import { closedRow, type Opening, openingOf } from './stored.ts';

/** When they are ended, and who knows what was recorded of them. */
interface Past {
  readonly now: number;
  readonly bodies?: Pick<BodyKeeper, 'remains'>;
}

/**
 * Ends the runs that an earlier process of this node left open. Called at start, after the old journals are drained and before the
 * first new run, so every running row of this node is an orphan.
 */
export async function closeInterrupted(store: Store, chain: Chain, origin: Origin, { now, bodies }: Past): Promise<number> {
  const close = interruption(now);
  let closed = 0;
  let cursor: string | undefined;
  do {
    const page = await listReceipts(store, { unfinished: true, limit: 500, ...(cursor === undefined ? {} : { cursor }) });
    const mine = page.items.map(openingOf).filter((opening) => opening.origin.node === origin.node);
    if (mine.length > 0) {
      const mark = { segment: 'interrupted', node: origin.node, position: 0 };
      const ended: { opening: Opening; close: CloseTexts }[] = [];
      for (const opening of mine) ended.push({ opening, close: await withRemains(opening, close, bodies) });
      await chain.save(store, mark, (sealer) => ended.map((one) => closedRow({ ...one.opening, close: one.close, sealer }, chain.number)));
    }
    closed += mine.length;
    cursor = page.next_cursor;
  } while (cursor !== undefined);
  return closed;
}

/** What had been recorded of the answer stands in the receipt. */
async function withRemains({ open }: Opening, close: CloseTexts, bodies: Pick<BodyKeeper, 'remains'> | undefined): Promise<CloseTexts> {
  const remains = open.recording === '"full"' ? await bodies?.remains(open.run as RunId) : undefined; // written by the journal from a RunId
  return remains === undefined ? close : { ...close, response: responseText(remains), eventCount: String(remains.eventCount) };
}
