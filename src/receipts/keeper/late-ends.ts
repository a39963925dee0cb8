import { canonicalJson, sha256 } from '../../base/canonical-json.ts';
import type { JsonObject } from '../../base/json.ts';
import { LATE_END_MEMBERS } from '../../contract/receipts/receipt-fields.ts';
import { insertLateEnds, runsWithLateEnd } from '../../store/receipts/late-ends.ts';
import type { StoredReceipt } from '../../store/receipts/receipt-columns.ts';
import type { Store } from '../../store/store.ts';
import { addRollups } from '../../store/usage/rollups.ts';
import type { CloseTexts } from '../journal/texts.ts';
import { parsedText } from '../seal/canonical-text.ts';
import type { Chain } from '../seal/chain.ts';
import { append, entryTime } from '../seal/entry.ts';
import { isInterrupted, type LateEnded, lateUsageOf } from '../usage/late-usage.ts';
import type { Spent } from '../usage/sealed-usage.ts';
import { mergeRollups } from '../usage/usage-sums.ts';
import { closedReceipt, type Sealer } from './build.ts';
import type { Opening } from './stored.ts';

/** A run of this node that was closed elsewhere, and how it really ended. */
export interface LateEnding {
  readonly stored: StoredReceipt;
  readonly opening: Opening;
  readonly close: CloseTexts;
}

/** Whether another node has closed the run because its own was lost. What was removed since is gone, the late end included. */
export function isClosedElsewhere(stored: StoredReceipt, chain: number): boolean {
  return stored.chain !== null && stored.chain !== chain && isInterrupted(stored);
}

/**
 * Keeps what this node knows of runs that were closed in its absence. Their receipts stay as they were sealed: the chain has an entry
 * with the hash of each end, and the sums of usage go by the ends from then on. Ends that are kept already are passed over, so it may be done
 * again after a crash. What the calls have cost.
 */
export async function keepLateEnds(store: Store, chain: Chain, endings: readonly LateEnding[]): Promise<readonly Spent[]> {
  if (endings.length === 0) return [];
  const kept = await runsWithLateEnd(
    store,
    endings.map(({ stored }) => stored.runId),
  );
  const added = endings.filter(({ stored }) => !kept.has(stored.runId)).map(documentOf);
  if (added.length === 0) return [];
  const { rollups, spent } = await lateUsageOf(store, added);
  await append(store, chain, {
    kind: 'late_ends',
    members: {
      at: entryTime(),
      ends: added.map(({ stored, document }) => ({
        run_id: stored.runId,
        receipt_sha256: stored.receiptSha256,
        end_sha256: sha256(document),
      })),
    },
    signer: chain.signer,
    work: async (db, { sequence }) => {
      await insertLateEnds(
        db,
        { chain: chain.number, sequence },
        added.map(({ stored, document }) => ({ run: stored.runId, document })),
      );
      await addRollups(db, { chain: chain.number, added: rollups, merge: mergeRollups });
    },
  });
  return spent;
}

/** The receipt that this node would have sealed, had it been in time, is put together to take its members. */
const NO_SEAL: Sealer = { seal: (before, after) => ({ document: Buffer.from(before + after, 'latin1'), sequence: 0 }) };

function documentOf({ stored, opening, close }: LateEnding): LateEnded & { readonly document: string } {
  const { document } = closedReceipt({ ...opening, close, sealer: NO_SEAL });
  const receipt = parsedText(document.toString('utf8')) as JsonObject; // built just now
  const end = Object.fromEntries(LATE_END_MEMBERS.map((name) => [name, receipt[name] ?? null]));
  return { stored, end, document: canonicalJson(end) };
}
