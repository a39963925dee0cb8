import type { Transaction } from 'kysely';
import type { JsonObject } from '../../base/json.ts';
import type { RunId } from '../../contract/run-id.ts';
import type { Tables } from '../schema.ts';
import type { Store } from '../store.ts';
import { storedObject } from '../text.ts';
import { runKey } from './receipt-columns.ts';

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
  const rows = ends.map(({ run, document }) => ({ run_id: runKey(run), chain: place.chain, sequence: place.sequence, document }));
  await db.insertInto('late_ends').values(rows).execute();
}

/** They go with the contents of the runs' receipts. */
export async function deleteLateEnds(db: Transaction<Tables>, runs: readonly RunId[]): Promise<void> {
  await db.deleteFrom('late_ends').where('run_id', 'in', runs.map(runKey)).execute();
}
