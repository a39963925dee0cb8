import { sql } from 'kysely';
import type { RunId } from '../contract/run-id.ts';
import { receiptOf, runKey, type StoredReceipt } from './receipts/receipt-columns.ts';
import type { PostgresStore, Store } from './store.ts';

/** A node, and the last time it said that it lives: by the database's clock, and null when it is not remembered. */
export interface NodeBeat {
  readonly node: string;
  readonly beat: number | null;
}

/** The other nodes that have ever kept receipts in this database. */
export async function otherNodes(store: PostgresStore, node: string): Promise<readonly NodeBeat[]> {
  return await store.db
    .selectFrom('chains')
    .leftJoin('workers', 'workers.id', 'chains.node')
    .select(['chains.node', 'workers.heartbeat_at as beat'])
    .where('chains.node', '!=', node)
    .execute();
}

/** Whether more than one node keeps receipts in this database. */
export async function hasSeveralChains(store: Store): Promise<boolean> {
  if (store.kind === 'sqlite') return false;
  return (await store.db.selectFrom('chains').select('number').limit(2).execute()).length > 1;
}

/** Whether other nodes keep receipts in this database. */
export async function isShared(store: Store, node: string): Promise<boolean> {
  if (store.kind === 'sqlite') return false;
  const other = await store.db.selectFrom('chains').select('number').where('node', '!=', node).limit(1).executeTakeFirst();
  return other !== undefined;
}

/** Inside a JSON string the quotes would be escaped, and no part of a receipt has a member of this name. */
const NODE = sql<string>`substring(document from '"node":"([^"]+)"')`;

/** Which unfinished runs to find. */
export interface UnfinishedFilter {
  readonly nodes: readonly string[];
  /** Began at this time or earlier. */
  readonly startedUntil: number;
  /** Only runs after this one. */
  readonly after?: RunId | undefined;
  readonly limit: number;
}

/** Runs of some nodes that have not ended, in the order of their ids. */
export async function unfinishedOf(store: PostgresStore, filter: UnfinishedFilter): Promise<readonly StoredReceipt[]> {
  const rows = await store.db
    .selectFrom('receipts')
    .selectAll()
    .where('completed_at', 'is', null)
    .where('started_at', '<=', filter.startedUntil)
    .where('run_id', '>', filter.after === undefined ? '' : runKey(filter.after))
    .where(NODE, 'in', filter.nodes)
    .orderBy('run_id')
    .limit(filter.limit)
    .execute();
  return rows.map(receiptOf);
}
