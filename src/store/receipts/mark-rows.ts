import { type RawBuilder, sql, type Transaction } from 'kysely';
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

/** The rows of marks, of any number, as one JSON text. */
function markRows({ kind }: Pick<Store, 'kind'>, runs: readonly MarkedRun[]): RawBuilder<unknown> {
  const marks = JSON.stringify(runs.flatMap(({ marks: all, startedAt, runKey: run }) => all.map((mark) => [mark, startedAt, run])));
  return kind === 'sqlite'
    ? sql`select value ->> 0, value ->> 1, value ->> 2 from json_each(${marks}) where true`
    : sql`select (value ->> 0)::bigint, (value ->> 1)::bigint, value ->> 2 from json_array_elements(${marks}::json)`;
}

async function insertMarks(store: Pick<Store, 'kind'>, db: Transaction<Tables>, runs: readonly MarkedRun[]): Promise<void> {
  const kinds = new Map<number, ReceiptKindsTable>(runs.map(({ kind }) => [kind.mark, kind]));
  if (runs.length === 0) return;
  for (const kind of await unknownKinds(db, [...kinds.values()])) {
    const one = db.insertInto('receipt_kinds').values(kind);
    await one.onConflict((conflict) => conflict.column('mark').doNothing()).execute();
  }
  await sql`insert into receipt_marks (mark, started_at, run_id) ${markRows(store, runs)} on conflict do nothing`.execute(db);
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

/** The marks of receipts whose content was removed are those of what is left of them; the words of a kind that no receipt has go. */
export async function markAnew(
  store: Pick<Store, 'kind'>,
  db: Transaction<Tables>,
  { before, after }: { readonly before: readonly StoredReceipt[]; readonly after: readonly StoredReceipt[] },
): Promise<void> {
  const marked = before.map((one) => ({ ...marksOf(one, one.document), runKey: runKey(one.runId), startedAt: one.startedAt }));
  const { rows } = await sql<{ run_id: string }>`delete from receipt_marks
    where (mark, started_at, run_id) in (${markRows(store, marked)}) returning run_id`.execute(db);
  // To those without marks the keeper has not come yet; it will find what is left.
  const had = new Set(rows.map(({ run_id }) => run_id));
  if (had.size === 0) return;
  const anew = after.map((one) => ({ ...marksOf(one, one.document), runKey: runKey(one.runId), startedAt: one.startedAt }));
  await insertMarks(
    store,
    db,
    anew.filter((one) => had.has(one.runKey)),
  );
  for (const mark of new Set(marked.map(({ kind }) => kind.mark)))
    await sql`delete from receipt_kinds where mark = ${mark}
      and not exists (select 1 from receipt_marks where receipt_marks.mark = ${mark})`.execute(db);
}
