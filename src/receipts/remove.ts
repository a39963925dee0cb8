import { canonicalJson } from '../base/canonical-json.ts';
import { jsonOf } from '../base/json.ts';
import { AbpError } from '../contract/errors.ts';
import type { ReceiptStub, Removal } from '../contract/receipts/chain.ts';
import type { Seal } from '../contract/receipts/parts.ts';
import type { Receipt } from '../contract/receipts/receipt.ts';
import { type RunId, writtenRunId } from '../contract/run-id.ts';
import { emptyLog, overwriting } from '../store/databases/sqlite-upkeep.ts';
import { deleteLateEnds } from '../store/receipts/late-ends.ts';
import { listRemovable, type Removable, type RemovalFilter, replaceByStubs } from '../store/receipts/receipt-removal.ts';
import type { Store } from '../store/store.ts';
import { forgetInRollups } from '../store/usage/rollups.ts';
import { parsedText } from './seal/canonical-text.ts';
import type { Chain } from './seal/chain.ts';
import { append, entryTime } from './seal/entry.ts';
import { Followers } from './usage/followers.ts';

/** One entry of the chain names at most this many receipts. */
const MOST_PER_ENTRY = 500;

/** Others who know something of the runs whose receipts are removed. */
export interface Knowing {
  /** Where the bodies of runs are kept. */
  readonly bodies?: { erase(runs: readonly RunId[]): Promise<unknown> } | undefined;
  /** Those of this process, which may keep sums and marks of sealed receipts in memory; a process that seals nothing has none. */
  readonly followers?: Pick<Followers, 'catchUp'> | undefined;
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

/** How far a removal has come. */
interface Removed {
  readonly runs: readonly RunId[];
  /** Every receipt of the chain up to this place has lost its content, if it is to lose it at all. */
  readonly upTo: number;
  readonly more: boolean;
}

/** A removal that leaves off after a while: others wait for the keeper. */
interface RemovalTurn {
  readonly after: number;
  /** Until when, in the time of `performance.now()`. */
  readonly until: number;
}

/**
 * Takes the contents of receipts away and leaves stubs with their places and hashes, so that the chain still verifies. An entry of
 * the chain says which and when. What else is kept of the runs goes first: a removal that was interrupted finds the receipts and is done again.
 */
export async function removeReceipts(store: Store, chain: Chain, order: RemovalOrder, knowing: Knowing = {}): Promise<RunId[]> {
  const { runs } = await removeSome(store, chain, order, { ...knowing, after: 0, until: Number.POSITIVE_INFINITY });
  if (!(await emptyLog(store)))
    throw new AbpError(
      'conflict',
      `${runs.length} receipts were removed, but the log of the database still holds what they said: another process is reading it. End that process, then remove them again; the log is emptied then.`,
    );
  return [...runs];
}

/** The same, for as long as there is time. */
export async function removeSome(
  store: Store,
  chain: Chain,
  order: RemovalOrder,
  { bodies, followers, after, until }: RemovalTurn & Knowing,
): Promise<Removed> {
  const { status, key, tag, endedBefore } = order;
  const filter: RemovalFilter = { chain: chain.number, key, tag, endedBefore, archivedToo: status === 'deleted' };
  const runs: RunId[] = [];
  let upTo = after;
  const next = (): Promise<readonly Removable[]> => listRemovable(store, { ...filter, after: upTo }, MOST_PER_ENTRY);
  let found = await next();
  if (found.length === 0) return { runs, upTo, more: false };
  await (followers ?? new Followers(store, chain.number)).catchUp();
  await overwriting(store, async () => {
    if (status === 'deleted' && (key !== undefined || tag !== undefined)) await forgetInRollups(store, chain.number, { key, tag });
    for (; found.length > 0 && performance.now() < until; found = await next()) {
      const receipts = found.map(contentOf);
      const removed = receipts.map(({ run_id: run }) => writtenRunId(run));
      await bodies?.erase(removed);
      await removeBatch(store, chain, order, receipts);
      runs.push(...removed);
      upTo = found.at(-1)?.sequence ?? upTo;
    }
  });
  return { runs, upTo, more: found.length > 0 };
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
      const stubs = receipts.map((kept) => {
        const stub: ReceiptStub = { ...kept, status, removed_at: at, removal: sequence };
        return { run: writtenRunId(kept.run_id), document: canonicalJson(jsonOf(stub)) }; // JSON values only
      });
      await replaceByStubs(db, { kind: store.kind, status, stubs });
      await deleteLateEnds(
        db,
        receipts.map(({ run_id: run }) => writtenRunId(run)),
      );
    },
  });
}
