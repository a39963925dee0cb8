import type { Transaction } from 'kysely';
import type { RunId } from '../../contract/run-id.ts';
import type { Tables } from '../schema.ts';
import type { Store } from '../store.ts';
import { markAnew } from './mark-rows.ts';
import { ARCHIVED, DELETED, receiptOf, runKey } from './receipt-columns.ts';
import { conditions, type ReceiptFilter } from './receipts.ts';

/** Which receipts lose their content. */
export interface RemovalFilter extends Pick<ReceiptFilter, 'key' | 'tag'> {
  readonly chain: number;
  /** Ended before this time. */
  readonly endedBefore?: number | undefined;
  /** Receipts that lost it already, but not as thoroughly, lose it again. */
  readonly archivedToo: boolean;
}

/** A receipt that is to lose its content. */
export interface Removable {
  readonly runKey: string;
  readonly sequence: number;
  readonly document: string;
}

/** The oldest sealed receipts of a chain that match. */
export async function listRemovable(store: Store, filter: RemovalFilter, limit: number): Promise<readonly Removable[]> {
  const { chain, endedBefore, archivedToo, key, tag } = filter;
  const kept = archivedToo ? [DELETED] : [ARCHIVED, DELETED];
  const rows = await store.db
    .selectFrom('receipts')
    .select(['run_id', 'sequence', 'document'])
    .where('chain', '=', chain)
    .where('sequence', 'is not', null)
    .where('status', 'not in', kept)
    .where((eb) => conditions(store, { key, tag }, eb))
    .$if(endedBefore !== undefined, (query) => query.where('completed_at', '<', endedBefore ?? 0))
    .orderBy('sequence')
    .limit(limit)
    .execute();
  return rows.map((row) => ({ runKey: row.run_id, sequence: row.sequence ?? 0, document: row.document }));
}

/** Puts a stub where the receipt was. What was deleted also leaves the columns that lists filter by. */
export async function replaceByStub(
  db: Transaction<Tables>,
  run: RunId,
  { kind, status, document }: { readonly status: 'archived' | 'deleted'; readonly document: string } & Pick<Store, 'kind'>,
): Promise<void> {
  const erased = status === DELETED ? { dialect: null, engine: null, model: null, mode: null } : {};
  const row = () => db.selectFrom('receipts').selectAll().where('run_id', '=', runKey(run)).executeTakeFirstOrThrow();
  const before = receiptOf(await row());
  await db
    .updateTable('receipts')
    .set((eb) => ({ revision: eb('revision', '+', 1), status, document, key_id: null, tags: '[]', ...erased }))
    .where('run_id', '=', runKey(run))
    .execute();
  await markAnew({ kind }, db, { before, after: receiptOf(await row()) });
}
