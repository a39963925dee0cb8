import { sql, type Transaction } from 'kysely';
import { AbpError } from '../../contract/errors.ts';
import type { RunId } from '../../contract/run-id.ts';
import type { Tables } from '../schema.ts';
import type { Store } from '../store.ts';
import { storedObject } from '../text.ts';
import { markAnew } from './mark-rows.ts';
import { ARCHIVED, DELETED, receiptOf, runKey, type StoredReceipt } from './receipt-columns.ts';
import { conditions, type ReceiptFilter } from './receipts.ts';
import { NO_DAY, onDaysOf } from './run-days.ts';

/** Which receipts lose their content. */
export interface RemovalFilter extends Pick<ReceiptFilter, 'key' | 'tag'> {
  readonly chain: number;
  /** Ended before this time. */
  readonly endedBefore?: number | undefined;
  /** Receipts that lost it already, but not as thoroughly, lose it again. */
  readonly archivedToo: boolean;
  /** Only those after this place in the chain. */
  readonly after?: number | undefined;
}

/** A receipt that is to lose its content. */
export interface Removable {
  readonly runKey: string;
  readonly sequence: number;
  readonly document: string;
}

/** The oldest sealed receipts of a chain that match. */
export async function listRemovable(store: Store, filter: RemovalFilter, limit: number): Promise<readonly Removable[]> {
  const { chain, endedBefore, archivedToo, after = 0, key, tag } = filter;
  const kept = archivedToo ? [DELETED] : [ARCHIVED, DELETED];
  const rows = await store.db
    .selectFrom('receipts')
    .select(['run_id', 'sequence', 'document'])
    .where('chain', '=', chain)
    .where('sequence', '>', after)
    .where('status', 'not in', kept)
    .where((eb) => conditions(store, { key, tag }, eb))
    .$if(endedBefore !== undefined, (query) => query.where('completed_at', '<', endedBefore ?? 0))
    .orderBy('sequence')
    .limit(limit)
    .execute();
  return rows.map((row) => ({ runKey: row.run_id, sequence: row.sequence ?? 0, document: row.document }));
}

/** The place up to which a chain has nothing that could still lose its content. */
export async function stubsUpTo(store: Store, filter: Pick<RemovalFilter, 'chain' | 'archivedToo' | 'after'>): Promise<number> {
  const [first] = await listRemovable(store, filter, 1);
  return first === undefined ? (filter.after ?? 0) : first.sequence - 1;
}

/** A receipt whose content was removed: enough is left that its chain still verifies. */
interface Stub {
  readonly run: RunId;
  readonly document: string;
}

interface Stubs extends Pick<Store, 'kind'> {
  readonly status: typeof ARCHIVED | typeof DELETED;
  readonly stubs: readonly Stub[];
}

/**
 * Puts stubs where receipts were. What was deleted also leaves the columns that lists filter by. On PostgreSQL stubs leave the part of
 * their day, which is dropped once nothing is in it.
 */
export async function replaceByStubs(db: Transaction<Tables>, { kind, status, stubs }: Stubs): Promise<void> {
  const erased = status === DELETED ? { dialect: null, engine: null, model: null, mode: null } : {};
  const keys = stubs.map(({ run }) => runKey(run));
  const rows = await db.selectFrom('receipts').selectAll().where('run_id', 'in', keys).where(onDaysOf({ kind }, keys)).execute();
  const before = rows.map(receiptOf);
  const documents = new Map(stubs.map(({ run, document }) => [run, document]));
  const after = before.map((one): StoredReceipt => {
    const document = documents.get(one.runId);
    if (document === undefined) throw new AbpError('internal', `there is no stub for ${one.runId}`);
    return { ...one, ...erased, revision: one.revision + 1, status, keyId: null, tags: [], document: storedObject('stub', document) };
  });
  const changes = { status, key_id: null, tags: '[]', ...erased };
  if (kind === 'sqlite') {
    for (const { run, document } of stubs) {
      const one = db.updateTable('receipts').set((eb) => ({ revision: eb('revision', '+', 1), document, ...changes }));
      await one.where('run_id', '=', runKey(run)).execute();
    }
  } else {
    const sets = Object.entries(changes).map(([name, value]) => sql`${sql.id(name)} = ${sql.lit(value)}`);
    await sql`update receipts set revision = revision + 1, document = stub.document, day = ${sql.lit(NO_DAY)}, ${sql.join(sets)}
      from unnest(${keys}::text[], ${stubs.map(({ document }) => document)}::text[]) as stub (run_id, document)
      where receipts.run_id = stub.run_id and ${onDaysOf({ kind }, keys)}`.execute(db);
  }
  await markAnew({ kind }, db, { before, after });
}
