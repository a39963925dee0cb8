import { type ExpressionBuilder, type ExpressionWrapper, type SqlBool, sql } from 'kysely';
import type { Tables } from '../schema.ts';
import type { Store } from '../store.ts';
import { indexedText, storableText } from '../text.ts';
import { receiptOf, type StoredReceipt } from './receipt-columns.ts';

/** Kinds that are asked for; every given member must match. */
export interface KindChoice {
  readonly equal: Readonly<Partial<Record<'plane' | 'engine' | 'model' | 'status' | 'mode' | 'agent', string>>>;
  /** The reason, or the code of the error. */
  readonly why?: string | undefined;
  readonly words?: string | undefined;
}

/** The marks of the kinds that match, one more than `most` where there are more. */
export async function kindMarks(store: Store, { equal, why, words }: KindChoice, most: number): Promise<number[]> {
  const found = store.kind === 'sqlite' ? sql`instr` : sql`strpos`;
  const where = (eb: ExpressionBuilder<Tables, 'receipt_kinds'>): ExpressionWrapper<Tables, 'receipt_kinds', SqlBool> => {
    const all: ExpressionWrapper<Tables, 'receipt_kinds', SqlBool>[] = [];
    for (const [name, value] of Object.entries(equal)) all.push(eb(name as keyof typeof equal, '=', indexedText(value))); // the names are the type's
    if (why !== undefined) all.push(eb.or([eb('reason', '=', storableText(why)), eb('error', '=', storableText(why))]));
    if (words !== undefined) all.push(eb.and([sql<boolean>`${found}(words, ${storableText(words.toLowerCase())}) > 0`]));
    return eb.and(all);
  };
  const rows = await store.db
    .selectFrom('receipt_kinds')
    .select('mark')
    .where(where)
    .limit(most + 1)
    .execute();
  return rows.map(({ mark }) => mark);
}

/** Where a receipt stands in a list. */
export interface RunPlace {
  readonly time: number;
  readonly id: string;
}

export interface MarkedChoice {
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  readonly before?: RunPlace | undefined;
}

const newestFirst = (one: RunPlace, other: RunPlace): number => other.time - one.time || (other.id < one.id ? -1 : 1);

/** The newest receipts that have one of these marks. */
export async function markedRuns(store: Store, marks: readonly number[], choice: MarkedChoice, limit: number): Promise<RunPlace[]> {
  const { since = 0, until = Number.MAX_SAFE_INTEGER, before = { time: until, id: '' } } = choice;
  const first = before.time < until ? before : { time: until, id: '' };
  const found: RunPlace[] = [];
  if (store.kind === 'postgres') {
    const { rows } = await sql<RunPlace>`select one.started_at as time, one.run_id as id
      from unnest(${[...marks]}::bigint[]) as asked (mark) cross join lateral (
        select started_at, run_id from receipt_marks
        where receipt_marks.mark = asked.mark and started_at >= ${since} and (started_at, run_id) < (${first.time}, ${first.id})
        order by started_at desc, run_id desc limit ${limit}) as one
      order by 1 desc, 2 desc limit ${limit}`.execute(store.db);
    found.push(...rows);
  } else {
    for (const mark of marks) {
      const { rows } = await sql<RunPlace>`select started_at as time, run_id as id from receipt_marks
        where mark = ${mark} and started_at >= ${since} and (started_at, run_id) < (${first.time}, ${first.id})
        order by started_at desc, run_id desc limit ${limit}`.execute(store.db);
      found.push(...rows);
    }
  }
  const unique = new Map(found.map((place) => [place.id, place]));
  return [...unique.values()].sort(newestFirst).slice(0, limit);
}

/** Receipts without marks as yet: runs that have not ended, and those that ended a moment ago. Undefined where there are more than `most`. */
export async function unmarkedReceipts(store: Store, most: number): Promise<StoredReceipt[] | undefined> {
  const chains = await store.db
    .selectFrom('chains')
    .leftJoin('mark_positions', 'mark_positions.chain', 'chains.number')
    .select(['chains.number', 'chains.sequence as sealed', 'mark_positions.sequence as marked'])
    .execute();
  const found: StoredReceipt[] = [];
  const behind = chains.filter(({ sealed, marked }) => sealed > (marked ?? 0));
  for (const { number, marked } of [...behind, undefined].map((one) => one ?? { number: null, marked: null })) {
    const rows = await store.db
      .selectFrom('receipts')
      .selectAll()
      .$if(number !== null, (query) => query.where('chain', '=', number).where('sequence', '>', marked ?? 0))
      .$if(number === null, (query) => query.where('completed_at', 'is', null))
      .limit(most + 1 - found.length)
      .execute();
    found.push(...rows.map(receiptOf));
    if (found.length > most) return undefined;
  }
  return found;
}
