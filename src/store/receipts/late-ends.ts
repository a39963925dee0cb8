import type { Transaction } from 'kysely';
import type { JsonObject } from '../../base/json.ts';
import { type RunId, writtenRunId } from '../../contract/run-id.ts';
import type { Tables } from '../schema.ts';
import type { Store } from '../store.ts';
import { storedObject } from '../text.ts';
import { receiptOf, runKey, type StoredReceipt } from './receipt-columns.ts';

/** The end of a run that another node had closed, and the entry of the chain that binds it. */
export interface StoredLateEnd {
  readonly chain: number;
  readonly sequence: number;
  readonly document: JsonObject;
}

/** A late end to be stored: its document is JSON text already. */
export interface NewLateEnd {
  readonly run: RunId;
  readonly document: string;
}

export async function findLateEnd(store: Store, run: RunId): Promise<StoredLateEnd | undefined> {
  const row = await store.db.selectFrom('late_ends').selectAll().where('run_id', '=', runKey(run)).executeTakeFirst();
  if (row === undefined) return undefined;
  return { chain: row.chain, sequence: row.sequence, document: storedObject('late end', row.document) };
}

/** Those that these runs have. */
export async function lateEndsOf(store: Store, runs: readonly RunId[]): Promise<ReadonlyMap<string, JsonObject>> {
  if (runs.length === 0) return new Map();
  const rows = await store.db.selectFrom('late_ends').select(['run_id', 'document']).where('run_id', 'in', runs.map(runKey)).execute();
  return new Map(rows.map((row) => [`run_${row.run_id}`, storedObject('late end', row.document)]));
}

/** Which of the runs have one. */
export async function runsWithLateEnd(store: Store, runs: readonly RunId[]): Promise<ReadonlySet<string>> {
  const rows = await store.db.selectFrom('late_ends').select('run_id').where('run_id', 'in', runs.map(runKey)).execute();
  return new Set(rows.map((row) => `run_${row.run_id}`));
}

export async function insertLateEnds(
  db: Transaction<Tables>,
  place: Pick<StoredLateEnd, 'chain' | 'sequence'>,
  ends: readonly NewLateEnd[],
): Promise<void> {
  const { chain, sequence } = place;
  const rows = ends.map(({ run, document }) => ({ run_id: runKey(run), chain, sequence, document, counted: 1 }));
  await db.insertInto('late_ends').values(rows).execute();
}

/** A span of time, and the run after which a page of it begins. */
export interface LatePage {
  readonly since: number;
  readonly until: number;
  readonly after?: RunId | undefined;
  readonly limit: number;
}

/** Receipts with a late end, of runs that began in a span of time, in the order of their ids. */
export async function receiptsWithLateEnd({ db }: Store, { since, until, after, limit }: LatePage): Promise<StoredReceipt[]> {
  const rows = await db
    .selectFrom('late_ends')
    .innerJoin('receipts', 'receipts.run_id', 'late_ends.run_id')
    .selectAll('receipts')
    .where('receipts.started_at', '>=', since)
    .where('receipts.started_at', '<', until)
    .where('late_ends.run_id', '>', after === undefined ? '' : runKey(after))
    .orderBy('late_ends.run_id')
    .limit(limit)
    .execute();
  return rows.map(receiptOf);
}

/** Runs with late ends of this chain that the sums of usage do not go by yet. */
export async function uncountedLateEnds({ db }: Store, chain: number, limit: number): Promise<readonly RunId[]> {
  const rows = await db.selectFrom('late_ends').select('run_id').where('chain', '=', chain).where('counted', '=', 0).limit(limit).execute();
  return rows.map((row) => writtenRunId(`run_${row.run_id}`));
}

export async function markCounted(db: Transaction<Tables>, runs: readonly RunId[]): Promise<void> {
  await db.updateTable('late_ends').set({ counted: 1 }).where('run_id', 'in', runs.map(runKey)).execute();
}

/** They go with the contents of the runs' receipts. */
export async function deleteLateEnds(db: Transaction<Tables>, runs: readonly RunId[]): Promise<void> {
  await db.deleteFrom('late_ends').where('run_id', 'in', runs.map(runKey)).execute();
}
