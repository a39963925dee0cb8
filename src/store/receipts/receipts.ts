import type { ExpressionBuilder, ExpressionWrapper, Selectable, SqlBool } from 'kysely';
import { Slices } from '../../base/bounded/turns.ts';
import type { RunId } from '../../contract/run-id.ts';
import { decodeCursor, type Page, type PageOptions, pageOf, pageSize } from '../page.ts';
import type { ReceiptsTable, Tables } from '../schema.ts';
import type { Store } from '../store.ts';
import { hasTag } from '../tags.ts';
import { indexedText } from '../text.ts';
import { ARCHIVED, DELETED, receiptOf, runKey, type StoredReceipt } from './receipt-columns.ts';
import { onDaysOf } from './run-days.ts';

/** Which receipts are asked for; every given field must match. */
export interface ReceiptChoice {
  readonly plane?: string | undefined;
  readonly engine?: string | undefined;
  readonly model?: string | undefined;
  readonly status?: string | undefined;
  /** Id of the key that made the call. */
  readonly key?: string | undefined;
  readonly tag?: string | undefined;
  /** Hash of what the run did. */
  readonly content?: string | undefined;
  /** Started at this time or later. */
  readonly since?: number | undefined;
  /** Started before this time. */
  readonly until?: number | undefined;
}

/** Which receipts to list. */
export interface ReceiptFilter extends ReceiptChoice, PageOptions {
  /** Only runs of these keys; one at least. */
  readonly keys?: readonly string[] | undefined;
  /** Only runs without a key. */
  readonly unkeyed?: boolean | undefined;
  /** Only runs that have not ended. */
  readonly unfinished?: boolean | undefined;
  /** Only receipts whose content has not been removed. */
  readonly whole?: boolean | undefined;
}

const FILTER_COLUMNS = {
  plane: 'plane',
  engine: 'engine',
  model: 'model',
  status: 'status',
  key: 'key_id',
  content: 'receipt_sha256',
} as const;
const FILTERS = ['plane', 'engine', 'model', 'status', 'key', 'content'] as const satisfies readonly (keyof typeof FILTER_COLUMNS)[];

type Conditions = ExpressionWrapper<Tables, 'receipts', SqlBool>;

/** The conditions of a filter on a row. */
export function conditions(store: Store, filter: ReceiptFilter, eb: ExpressionBuilder<Tables, 'receipts'>): Conditions {
  const all: Conditions[] = [];
  for (const name of FILTERS) {
    const wanted = filter[name];
    if (wanted !== undefined) all.push(eb(FILTER_COLUMNS[name], '=', indexedText(wanted)));
  }
  if (filter.keys !== undefined) all.push(eb('key_id', 'in', filter.keys.map(indexedText)));
  if (filter.unkeyed === true) all.push(eb('key_id', 'is', null));
  if (filter.whole === true) all.push(eb('status', 'not in', [ARCHIVED, DELETED]));
  if (filter.tag !== undefined) all.push(eb.and([hasTag(store, filter.tag)]));
  // In these words, because the index of unfinished runs is found by its condition.
  if (filter.unfinished === true) all.push(eb('completed_at', 'is', null));
  if (filter.since !== undefined) all.push(eb('started_at', '>=', filter.since));
  if (filter.until !== undefined) all.push(eb('started_at', '<', filter.until));
  if (filter.cursor !== undefined) {
    const { time, id } = decodeCursor(filter.cursor);
    all.push(eb(eb.refTuple('started_at', 'run_id'), '<', eb.tuple(time, id)));
  }
  return eb.and(all);
}

export async function getReceipt(store: Store, runId: RunId): Promise<StoredReceipt | undefined> {
  const key = runKey(runId);
  const row = await store.db
    .selectFrom('receipts')
    .selectAll()
    .where('run_id', '=', key)
    .where(onDaysOf(store, [key]))
    .executeTakeFirst();
  return row === undefined ? undefined : receiptOf(row);
}

/** Read in slices: the receipt of a run with tens of thousands of tool calls, or of changed files, has megabytes. */
async function receiptsOf(rows: readonly Selectable<ReceiptsTable>[]): Promise<StoredReceipt[]> {
  const slices = new Slices();
  const receipts: StoredReceipt[] = [];
  for (const row of rows) {
    if (slices.over) await slices.next();
    receipts.push(receiptOf(row));
  }
  return receipts;
}

/** Newest first. */
export async function listReceipts(store: Store, filter: ReceiptFilter = {}): Promise<Page<StoredReceipt>> {
  const size = pageSize(filter.limit);
  const rows = await store.db
    .selectFrom('receipts')
    .selectAll()
    .where((eb) => conditions(store, filter, eb))
    .orderBy('started_at', 'desc')
    .orderBy('run_id', 'desc')
    .limit(size + 1)
    .execute();
  return pageOf(await receiptsOf(rows), size, (receipt) => ({ time: receipt.startedAt, id: runKey(receipt.runId) }));
}

/** Those of these receipts that fit, newest first. */
export async function receiptsAt(store: Store, keys: readonly string[], filter: ReceiptFilter): Promise<StoredReceipt[]> {
  const rows = await store.db
    .selectFrom('receipts')
    .selectAll()
    .where('run_id', 'in', [...keys])
    .where(onDaysOf(store, keys))
    .where((eb) => conditions(store, filter, eb))
    .orderBy('started_at', 'desc')
    .orderBy('run_id', 'desc')
    .execute();
  return await receiptsOf(rows);
}

/** How many receipts fit, counted up to a number. */
export async function countReceipts(store: Store, filter: ReceiptFilter, most: number): Promise<number> {
  const row = await store.db
    .selectFrom(
      store.db
        .selectFrom('receipts')
        .select('run_id')
        .where((eb) => conditions(store, filter, eb))
        .limit(most)
        .as('fitting'),
    )
    .select((eb) => eb.fn.countAll<number | string>().as('many'))
    .executeTakeFirstOrThrow();
  return Number(row.many);
}

/** A sealed receipt as a stream of them needs it. */
export interface SealedReceipt {
  readonly sequence: number;
  readonly keyId: string | null;
  readonly status: string;
  readonly document: string;
}

/** Receipts after an entry of the chain, in its order. */
export async function sealedAfter(store: Store, chain: number, sequence: number, limit: number): Promise<readonly SealedReceipt[]> {
  const rows = await store.db
    .selectFrom('receipts')
    .select(['sequence', 'key_id', 'status', 'document'])
    .where('chain', '=', chain)
    .where('sequence', '>', sequence)
    .orderBy('sequence')
    .limit(limit)
    .execute();
  return rows.map((row) => ({ sequence: row.sequence ?? 0, keyId: row.key_id, status: row.status, document: row.document }));
}

/** Receipts of runs that have ended which stand in no chain that is known here: how many, the run of one, and when the last one ended. */
export async function endedOutsideChains(store: Store): Promise<{ count: number; run: string; lastEnd: number } | undefined> {
  const row = await store.db
    .selectFrom('receipts')
    .select((eb) => [eb.fn.countAll().as('count'), eb.fn.max('run_id').as('run'), eb.fn.max('completed_at').as('lastEnd')])
    .where('completed_at', 'is not', null)
    .where((eb) =>
      eb.or([eb('chain', 'is', null), eb('sequence', 'is', null), eb('chain', 'not in', eb.selectFrom('chains').select('number'))]),
    )
    .executeTakeFirstOrThrow();
  const count = Number(row.count);
  return count === 0 ? undefined : { count, run: `run_${row.run}`, lastEnd: Number(row.lastEnd) };
}
