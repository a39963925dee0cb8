import { ownTurn } from '../../base/bounded/turns.ts';
import { AbpError } from '../../contract/errors.ts';
import { Fate } from '../../contract/negotiation.ts';
import { parseRunId, runTime } from '../../contract/run-id.ts';
import { findRunKey, keyIdsByName, keyNames } from '../../store/keys.ts';
import { encodeCursor, type Page } from '../../store/page.ts';
import { runKey, type StoredReceipt } from '../../store/receipts/receipt-columns.ts';
import { countReceipts, listReceipts, type ReceiptFilter } from '../../store/receipts/receipts.ts';
import type { Store } from '../../store/store.ts';
import type { RowOrder, RowQuery, RunRow, RunRowList } from '../api/run-rows.ts';
import { markedReceipts } from './marked-receipts.ts';
import { rowOf } from './run-row.ts';

/** Receipts that are read between two breaths of the event loop. */
const CHUNK = 200;
/** Receipts that one request may look at; a page may then be short and says where to go on. */
const MOST_READ = 20_000;
/** Pages that one request may look at, likewise. */
const MOST_PAGES = MOST_READ / CHUNK;
/** Beyond this a count says `at_least`. */
const MOST_COUNTED = 10_000;

export type RowFilter = RowQuery & Pick<ReceiptFilter, 'keys' | 'unkeyed' | 'unfinished' | 'cursor' | 'content' | 'whole'>;

/** A receipt and its line. */
export interface Found {
  readonly receipt: StoredReceipt;
  readonly row: RunRow;
}

type Test = (row: RunRow) => boolean;

/** Conditions on a line that the database does not select by. */
function testsOf({ mode, fate, reason, agent, root, parent, q, min_cost_nano_usd: cost, min_ms: ms }: RowQuery): readonly Test[] {
  const tests: Test[] = [];
  if (mode !== undefined) tests.push((row) => row.mode === mode);
  if (fate !== undefined) tests.push((row) => (row.fates[Fate.options.indexOf(fate)] ?? 0) > 0);
  if (reason !== undefined) tests.push((row) => row.reason === reason || row.error?.code === reason);
  if (agent !== undefined) tests.push((row) => row.agent === agent);
  if (root === true) tests.push((row) => row.parent_run_id === null);
  if (parent !== undefined) tests.push((row) => row.parent_run_id === parent);
  if (cost !== undefined) tests.push((row) => row.cost_nano_usd !== null && row.cost_nano_usd >= cost);
  if (ms !== undefined) tests.push((row) => row.total_ms !== null && row.total_ms >= ms);
  if (q !== undefined) tests.push(textTest(q));
  return tests;
}

/** Whether a line fits the conditions that the database does not select by. */
export function rowTest(filter: RowQuery): Test {
  const tests = testsOf(filter);
  return (row) => tests.every((test) => test(row));
}

function textTest(q: string): Test {
  const wanted = q.toLowerCase();
  return (row) =>
    (wanted.length >= 3 && row.run_id.includes(wanted)) ||
    [row.task, row.model, row.upstream_model, row.error?.message].some((text) => text?.toLowerCase().includes(wanted) === true);
}

/** The part of a filter that an index answers. */
function selected(filter: RowFilter): ReceiptFilter {
  const { plane, engine, model, status, key, keys, tag, since, until, unkeyed, unfinished, content, whole } = filter;
  return { plane, engine, model, status, key, keys, tag, since, until, unkeyed, unfinished, content, whole };
}

/** Receipts newest first, in chunks, with a breath between them. Those that do not fit the filter may be among them. */
export async function* scan(store: Store, filter: RowFilter, chunk = CHUNK): AsyncGenerator<Page<StoredReceipt>> {
  const marked = await markedReceipts(store, { filter, choice: selected(filter), chunk });
  if (marked !== undefined) return yield* marked;
  let cursor = filter.cursor;
  const choice = await ofParent(store, filter);
  for (;;) {
    const page = await listReceipts(store, { ...choice, limit: chunk, cursor });
    yield page;
    if (page.next_cursor === undefined) return;
    cursor = page.next_cursor;
    await ownTurn();
  }
}

/** Calls of a coding agent carry the key of its run, and keys have an index; calls of a turn are looked for from its beginning on. */
async function ofParent(store: Store, filter: RowFilter): Promise<ReceiptFilter> {
  const choice = selected(filter);
  const parent = filter.parent === undefined ? undefined : parseRunId(filter.parent);
  if (parent === undefined) return choice;
  const key = choice.key === undefined && choice.unkeyed !== true ? await findRunKey(store, parent) : undefined;
  if (key !== undefined) return { ...choice, key: key.id };
  return { ...choice, since: Math.max(choice.since ?? 0, runTime(parent) ?? 0) };
}

/** A page of receipts with their lines, newest first. */
export async function findReceipts(store: Store, filter: RowFilter, limit: number): Promise<Page<Found>> {
  const test = rowTest(filter);
  const items: Found[] = [];
  let [read, pages] = [0, 0];
  for await (const page of scan(store, filter, Math.min(CHUNK, limit))) {
    for (const [at, receipt] of page.items.entries()) {
      read += 1;
      const row = rowOf(receipt);
      if (test(row)) items.push({ receipt, row });
      if (items.length === limit || read === MOST_READ) return { items, ...nextAfter(page, at) };
    }
    pages += 1;
    // Pages may be empty where what was found by one condition does not meet another.
    if (pages === MOST_PAGES) return { items, ...nextAfter(page, page.items.length) };
  }
  return { items };
}

/** Where a list goes on after the receipt at this place of a page. */
function nextAfter({ items, next_cursor: next }: Page<StoredReceipt>, at: number): Pick<Page<Found>, 'next_cursor'> {
  const receipt = items[at];
  if (receipt !== undefined && (next !== undefined || at < items.length - 1)) return { next_cursor: cursorAt(receipt) };
  return next === undefined ? {} : { next_cursor: next };
}

function cursorAt({ startedAt, runId }: StoredReceipt): string {
  return encodeCursor({ time: startedAt, id: runKey(runId) });
}

/** A page of lines. */
export async function findRows(store: Store, filter: RowFilter, limit: number): Promise<Page<RunRow>> {
  const { items, ...rest } = await findReceipts(store, filter, limit);
  return { ...rest, items: items.map(({ row }) => row) };
}

/** How many there are; `at_least` where nobody counted to the end. */
export type Count = { readonly [Member in 'total' | 'total_is']: NonNullable<RunRowList[Member]> };

/** How much a line weighs in an order. A run without a price or an end comes last. */
const WEIGHTS: Readonly<Record<Exclude<RowOrder, 'started'>, (row: RunRow) => number>> = {
  cost: (row) => row.cost_nano_usd ?? -1,
  duration: (row) => row.total_ms ?? -1,
  tokens: (row) => (row.tokens === null ? -1 : row.tokens.in + row.tokens.out),
};

/** The greatest of the newest receipts, in an order that no index has, and how many were compared. */
export async function rankReceipts(
  store: Store,
  filter: RowFilter,
  { sort, limit }: { readonly sort: Exclude<RowOrder, 'started'>; readonly limit: number },
): Promise<Count & { readonly items: readonly Found[] }> {
  const [test, weight] = [rowTest(filter), WEIGHTS[sort]];
  let best: Found[] = [];
  let read = 0;
  let total = 0;
  for await (const { items: receipts } of scan(store, filter)) {
    const fitting = receipts.map((receipt) => ({ receipt, row: rowOf(receipt) })).filter(({ row }) => test(row));
    total += fitting.length;
    best = [...best, ...fitting].sort((a, b) => weight(b.row) - weight(a.row)).slice(0, limit);
    read += receipts.length;
    if (read >= MOST_READ) return { items: best, total, total_is: 'at_least' };
  }
  return { items: best, total, total_is: 'exact' };
}

/** Counts the receipts that fit, up to a bound. */
export async function countRows(store: Store, { cursor: _cursor, ...filter }: RowFilter): Promise<Count> {
  const tests = testsOf(filter);
  if (tests.length === 0) {
    const total = await countReceipts(store, selected(filter), MOST_COUNTED + 1);
    return total > MOST_COUNTED ? { total: MOST_COUNTED, total_is: 'at_least' } : { total, total_is: 'exact' };
  }
  let read = 0;
  let total = 0;
  for await (const { items: receipts } of scan(store, filter)) {
    for (const receipt of receipts) {
      const row = rowOf(receipt);
      if (tests.every((test) => test(row))) total += 1;
    }
    read += receipts.length;
    if (read >= MOST_READ || total >= MOST_COUNTED) return { total: Math.min(total, MOST_COUNTED), total_is: 'at_least' };
  }
  return { total, total_is: 'exact' };
}

/** The lines with the names of their keys. */
export async function withKeyNames(store: Store, rows: readonly RunRow[]): Promise<RunRow[]> {
  const names = await keyNames(store, [...new Set(rows.flatMap(({ key_id: id }) => id ?? []))]);
  return rows.map((row) => ({ ...row, key_name: names.get(row.key_id ?? '') ?? null }));
}

/** The filter with the id of the key that it names by its name. Who sees some keys alone hears of no other. */
export async function withKeyId<F extends { readonly key?: string | undefined; readonly keys?: readonly string[] | undefined }>(
  store: Store,
  filter: F,
): Promise<F> {
  const { key, keys } = filter;
  if (key === undefined || key.startsWith('key_')) return filter;
  const named = await keyIdsByName(store, key);
  const [id, ...more] = keys === undefined ? named : named.filter((one) => keys.includes(one));
  if (id === undefined) throw new AbpError('not_found', `There is no key with the name "${key}".`, { key_id: key });
  if (more.length > 0) throw new AbpError('E003', `Several keys have the name "${key}": ${[id, ...more].join(', ')}. Give the id of one.`);
  return { ...filter, key: id };
}
