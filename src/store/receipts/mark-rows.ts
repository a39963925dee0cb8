import { sql, type Transaction } from 'kysely';
import { AbpError } from '../../contract/errors.ts';
import type { Tables } from '../schema.ts';
import type { Store } from '../store.ts';
import type { ReceiptKindsTable } from './mark-schema.ts';
import { marksOf, type ReceiptMarks } from './marks.ts';
import { runKey, type StoredReceipt } from './receipt-columns.ts';

/** A receipt with its marks. */
export interface MarkedRun extends ReceiptMarks {
  readonly runKey: string;
  readonly startedAt: number;
}

/** A step of the keeper: the receipts between two places of the chain get their marks. */
export interface MarkStep {
  readonly chain: number;
  readonly from: number;
  readonly to: number;
  readonly runs: readonly MarkedRun[];
}

/** How far the receipts of a chain have their marks. */
export async function markedUpTo(store: Store, chain: number): Promise<number> {
  const row = await store.db.selectFrom('mark_positions').select('sequence').where('chain', '=', chain).executeTakeFirst();
  return row?.sequence ?? 0;
}

/** Writes marks and moves the place on: both or neither. */
export async function saveMarks(store: Store, { chain, from, to, runs }: MarkStep): Promise<void> {
  await store.db.transaction().execute(async (db) => {
    if (from === 0) {
      const first = db.insertInto('mark_positions').values({ chain, sequence: 0 });
      await first.onConflict((conflict) => conflict.column('chain').doNothing()).execute();
    }
    const place = db.updateTable('mark_positions').set({ sequence: to }).where('chain', '=', chain).where('sequence', '=', from);
    const moved = await place.executeTakeFirst();
    if (Number(moved.numUpdatedRows) !== 1) throw new AbpError('conflict', `another process marks the receipts of chain ${chain}`);
    await insertMarks(store, db, runs);
  });
}

/** One statement for any number of rows: they come as one JSON text. */
async function insertMarks(store: Pick<Store, 'kind'>, db: Transaction<Tables>, runs: readonly MarkedRun[]): Promise<void> {
  const kinds = new Map<number, ReceiptKindsTable>(runs.map(({ kind }) => [kind.mark, kind]));
  const marks = runs.flatMap(({ marks: all, startedAt, runKey: run }) => all.map((mark) => [mark, startedAt, run]));
  if (marks.length === 0) return;
  for (const kind of await unknownKinds(db, [...kinds.values()])) {
    const one = db.insertInto('receipt_kinds').values(kind);
    await one.onConflict((conflict) => conflict.column('mark').doNothing()).execute();
  }
  const rows = JSON.stringify(marks);
  const values =
    store.kind === 'sqlite'
      ? sql`select value ->> 0, value ->> 1, value ->> 2 from json_each(${rows}) where true`
      : sql`select (value ->> 0)::bigint, (value ->> 1)::bigint, value ->> 2 from json_array_elements(${rows}::json)`;
  await sql`insert into receipt_marks (mark, started_at, run_id) ${values} on conflict do nothing`.execute(db);
}

/** Kinds that are not in the database; a process writes the same few again and again. */
async function unknownKinds(db: Transaction<Tables>, kinds: readonly ReceiptKindsTable[]): Promise<ReceiptKindsTable[]> {
  const known = new Set<number>();
  for (let at = 0; at < kinds.length; at += 500) {
    const some = kinds.slice(at, at + 500).map(({ mark }) => mark);
    const rows = await db.selectFrom('receipt_kinds').select('mark').where('mark', 'in', some).execute();
    for (const { mark } of rows) known.add(mark);
  }
  return kinds.filter(({ mark }) => !known.has(mark));
}

/** The marks of a receipt whose content was removed are those of what is left of it; the words of a kind that no receipt has go. */
export async function markAnew(
  store: Pick<Store, 'kind'>,
  db: Transaction<Tables>,
  { before, after }: { readonly before: StoredReceipt; readonly after: StoredReceipt },
): Promise<void> {
  const run = runKey(before.runId);
  const { kind, marks } = marksOf(before, before.document);
  const own = db.deleteFrom('receipt_marks').where('mark', 'in', [...marks]);
  const { numDeletedRows } = await own.where('started_at', '=', before.startedAt).where('run_id', '=', run).executeTakeFirst();
  // The keeper has not come to it yet, and will find what is left.
  if (numDeletedRows === 0n) return;
  await insertMarks(store, db, [{ ...marksOf(after, after.document), runKey: run, startedAt: after.startedAt }]);
  await sql`delete from receipt_kinds where mark = ${kind.mark}
    and not exists (select 1 from receipt_marks where receipt_marks.mark = ${kind.mark})`.execute(db);
}
