import { canonicalJson } from '../base/canonical-json.ts';
import { jsonOf } from '../base/json.ts';
import type { ReceiptStub, Removal } from '../contract/receipts/chain.ts';
import type { Seal } from '../contract/receipts/parts.ts';
import type { Receipt } from '../contract/receipts/receipt.ts';
import { type RunId, writtenRunId } from '../contract/run-id.ts';
import { overwriting } from '../store/databases/sqlite-upkeep.ts';
import { deleteLateEnds } from '../store/receipts/late-ends.ts';
import { listRemovable, type Removable, type RemovalFilter, replaceByStub } from '../store/receipts/receipt-removal.ts';
import type { Store } from '../store/store.ts';
import { forgetInRollups } from '../store/usage/rollups.ts';
import { parsedText } from './seal/canonical-text.ts';
import type { Chain } from './seal/chain.ts';
import { append, entryTime } from './seal/entry.ts';

/** One entry of the chain names at most this many receipts. */
const MOST_PER_ENTRY = 500;

/** Where the bodies of runs are kept. */
export interface Bodies {
  erase(runs: readonly RunId[]): Promise<unknown>;
}

/** Which receipts are removed, and why. */
export interface RemovalOrder {
  /** `archived` keeps what lists are filtered by; `deleted` does not. */
  readonly status: Removal['status'];
  readonly reason: string;
  readonly key?: string | undefined;
  readonly tag?: string | undefined;
  /** Ended before this time, in milliseconds since the epoch. */
  readonly endedBefore?: number | undefined;
}

/**
 * Takes the contents of receipts away and leaves stubs with their places and hashes, so that the chain still verifies. An entry of
 * the chain says which and when. What else is kept of the runs goes first: a removal that was interrupted finds the receipts and is done again.
 */
export async function removeReceipts(store: Store, chain: Chain, order: RemovalOrder, bodies?: Bodies): Promise<RunId[]> {
  const { status, key, tag, endedBefore } = order;
  const filter: RemovalFilter = { chain: chain.number, key, tag, endedBefore, archivedToo: status === 'deleted' };
  const removed: RunId[] = [];
  const removeNext = async (found: readonly Removable[]): Promise<void> => {
    const receipts = found.map(contentOf);
    const runs = receipts.map(({ run_id: run }) => writtenRunId(run));
    await bodies?.erase(runs);
    await removeBatch(store, chain, order, receipts);
    for (const run of runs) removed.push(run);
  };
  const next = (): Promise<readonly Removable[]> => listRemovable(store, filter, MOST_PER_ENTRY);
  const first = await next();
  if (first.length === 0) return removed;
  await overwriting(store, async () => {
    if (status === 'deleted' && (key !== undefined || tag !== undefined)) await forgetInRollups(store, chain.number, { key, tag });
    for (let found = first; found.length > 0; found = await next()) await removeNext(found);
  });
  return removed;
}

/** The members that a stub keeps, of a receipt or of an earlier stub. */
type Kept = Omit<ReceiptStub, 'status' | 'removed_at' | 'removal'>;

function contentOf({ document }: Removable): Kept {
  const { id, run_id, contract_version, hash_profile, started_at, completed_at, node, receipt_sha256, seal } = parsedText(
    document,
  ) as unknown as Receipt & { seal: Seal }; // a sealed row of ours
  return { id, run_id, contract_version, hash_profile, started_at, completed_at, node, receipt_sha256, seal };
}

async function removeBatch(store: Store, chain: Chain, { status, reason }: RemovalOrder, receipts: readonly Kept[]): Promise<void> {
  const at = entryTime();
  await append(store, chain, {
    kind: 'removal',
    members: {
      at,
      status,
      reason,
      receipts: receipts.map(({ run_id, receipt_sha256, seal }) => ({ sequence: seal.sequence, run_id, receipt_sha256 })),
    },
    signer: chain.signer,
    work: async (db, { sequence }) => {
      for (const kept of receipts) {
        const stub: ReceiptStub = { ...kept, status, removed_at: at, removal: sequence };
        const document = canonicalJson(jsonOf(stub)); // JSON values only
        await replaceByStub(db, writtenRunId(kept.run_id), { kind: store.kind, status, document });
      }
      await deleteLateEnds(
        db,
        receipts.map(({ run_id: run }) => writtenRunId(run)),
      );
    },
  });
}
