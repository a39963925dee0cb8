import { type RawBuilder, sql, type Transaction } from 'kysely';
import { AbpError } from '../../contract/errors.ts';
import type { Tables } from '../schema.ts';
import type { Store } from '../store.ts';
import type { ReceiptKindsTable } from './mark-schema.ts';
import { marksOf } from './marks.ts';
import { runKey, type StoredReceipt } from './receipt-columns.ts';

/** Marks of receipts as they are written: rows of any number as one JSON text, which a statement of either database takes, and their kinds. */
export class MarkRows {
  #rows: string[] = [];
  readonly #kinds = new Map<number, ReceiptKindsTable>();

  /** The rows of these receipts, with all their marks. */
  static of(receipts: readonly StoredReceipt[]): MarkRows {
    const rows = new MarkRows();
    for (const one of receipts) {
      const { kind, marks } = marksOf(one, one.document);
      rows.addKind(kind);
      rows.add(marks, one);
    }
    return rows;
  }

  addKind(kind: ReceiptKindsTable): void {
    this.#kinds.set(kind.mark, kind);
  }

  /** Adds a row per mark. */
  add(marks: readonly number[], { runId, startedAt }: Pick<StoredReceipt, 'runId' | 'startedAt'>): void {
    const end = `,${startedAt},"${runKey(runId)}"]`;
    for (const mark of marks) this.#rows.push(`[${mark}${end}`);
  }

  /** Takes the rows of others, as one text of its own: their parts may be parts of texts that are much longer, and would hold on to those. */
  join(others: MarkRows): void {
    if (others.#rows.length > 0) this.#rows.push(others.#rows.join(','));
    others.#rows = [];
    for (const kind of others.#kinds.values()) this.addKind(kind);
  }

  get kinds(): readonly ReceiptKindsTable[] {
    return [...this.#kinds.values()];
  }

  /** The rows as one JSON list of mark, time and run. */
  get text(): string {
    return `[${this.#rows.join(',')}]`;
  }
}

/** A step of the keeper: the receipts between two places of the chain get their marks. */
export interface MarkStep {
  readonly chain: number;
  readonly from: number;
  readonly to: number;
  readonly rows: MarkRows;
}

/** How far the receipts of a chain have their marks. */
export async function markedUpTo(store: Store, chain: number): Promise<number> {
  const row = await store.db.selectFrom('mark_positions').select('sequence').where('chain', '=', chain).executeTakeFirst();
  return row?.sequence ?? 0;
}

/** Writes marks and moves the place on: both or neither. */
export async function saveMarks(store: Store, { chain, from, to, rows }: MarkStep): Promise<void> {
  await store.db.transaction().execute(async (db) => {
    if (from === 0) {
      const first = db.insertInto('mark_positions').values({ chain, sequence: 0 });
      await first.onConflict((conflict) => conflict.column('chain').doNothing()).execute();
    }
    const place = db.updateTable('mark_positions').set({ sequence: to }).where('chain', '=', chain).where('sequence', '=', from);
    const moved = await place.executeTakeFirst();
    if (Number(moved.numUpdatedRows) !== 1) throw new AbpError('conflict', `another process marks the receipts of chain ${chain}`);
    await insertMarks(store, db, rows);
  });
}

function valuesOf({ kind }: Pick<Store, 'kind'>, { text }: MarkRows): RawBuilder<unknown> {
  return kind === 'sqlite'
    ? sql`select value ->> 0, value ->> 1, value ->> 2 from json_each(${text}) where true`
    : sql`select (value ->> 0)::bigint, (value ->> 1)::bigint, value ->> 2 from json_array_elements(${text}::json)`;
}

async function insertMarks(store: Pick<Store, 'kind'>, db: Transaction<Tables>, rows: MarkRows): Promise<void> {
  for (const kind of await unknownKinds(db, rows.kinds)) {
    const one = db.insertInto('receipt_kinds').values(kind);
    await one.onConflict((conflict) => conflict.column('mark').doNothing()).execute();
  }
  await sql`insert into receipt_marks (mark, started_at, run_id) ${valuesOf(store, rows)} on conflict do nothing`.execute(db);
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
  const marked = MarkRows.of(before);
  const { rows } = await sql<{ run_id: string }>`delete from receipt_marks
    where (mark, started_at, run_id) in (${valuesOf(store, marked)}) returning run_id`.execute(db);
  // To those without marks the keeper has not come yet; it will find what is left.
  const had = new Set(rows.map(({ run_id }) => run_id));
  if (had.size === 0) return;
  await insertMarks(store, db, MarkRows.of(after.filter(({ runId }) => had.has(runKey(runId)))));
  for (const { mark } of marked.kinds)
    await sql`delete from receipt_kinds where mark = ${mark}
      and not exists (select 1 from receipt_marks where receipt_marks.mark = ${mark})`.execute(db);
}
