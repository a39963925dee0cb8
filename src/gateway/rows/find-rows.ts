import { setImmediate as breathe } from 'node:timers/promises';
import { Fate } from '../../contract/negotiation.ts';
import { parseRunId, runTime } from '../../contract/run-id.ts';
import { findRunKey } from '../../store/keys.ts';
import { encodeCursor, type Page } from '../../store/page.ts';
import { runKey, type StoredReceipt } from '../../store/receipts/receipt-columns.ts';
import { listReceipts, type ReceiptFilter } from '../../store/receipts/receipts.ts';
import type { Store } from '../../store/store.ts';
import type { RowQuery, RunRow } from '../api/run-rows.ts';
import { rowOf } from './run-row.ts';

/** Receipts that are read between two breaths of the event loop. */
const CHUNK = 200;
/** Receipts that one request may look at; a page may then be short and says where to go on. */
const MOST_READ = 20_000;

export type RowFilter = RowQuery & Pick<ReceiptFilter, 'unkeyed' | 'unfinished' | 'cursor'>;

/** Conditions on a line that the database does not select by. */
export function rowTest(filter: RowQuery): (row: RunRow) => boolean {
  const tests: ((row: RunRow) => boolean)[] = [];
  const { mode, fate, reason, agent, root, parent, q } = filter;
  const { min_cost_nano_usd: cost, min_ms: ms } = filter;
  if (mode !== undefined) tests.push((row) => row.mode === mode);
  if (fate !== undefined) tests.push((row) => (row.fates[Fate.options.indexOf(fate)] ?? 0) > 0);
  if (reason !== undefined) tests.push((row) => row.reason === reason || row.error?.code === reason);
  if (agent !== undefined) tests.push((row) => row.agent === agent);
  if (root === true) tests.push((row) => row.parent_run_id === null);
  if (parent !== undefined) tests.push((row) => row.parent_run_id === parent);
  if (cost !== undefined) tests.push((row) => row.cost_nano_usd !== null && row.cost_nano_usd >= cost);
  if (ms !== undefined) tests.push((row) => row.total_ms !== null && row.total_ms >= ms);
  if (q !== undefined) tests.push(textTest(q));
  return (row) => tests.every((test) => test(row));
}

function textTest(q: string): (row: RunRow) => boolean {
  const wanted = q.toLowerCase();
  return (row) =>
    (wanted.length >= 3 && row.run_id.includes(wanted)) ||
    [row.task, row.model, row.model_upstream, row.error?.message].some((text) => text?.toLowerCase().includes(wanted) === true);
}

/** The part of a filter that an index answers. */
function selected({ plane, engine, model, status, key, tag, since, until, unkeyed, unfinished }: RowFilter): ReceiptFilter {
  return { plane, engine, model, status, key, tag, since, until, unkeyed, unfinished };
}

/** Receipts newest first, in chunks, with a breath between them. */
export async function* scan(store: Store, filter: RowFilter, chunk = CHUNK): AsyncGenerator<readonly StoredReceipt[]> {
  let cursor = filter.cursor;
  const choice = await ofParent(store, filter);
  for (;;) {
    const page = await listReceipts(store, { ...choice, limit: chunk, cursor });
    yield page.items;
    if (page.next_cursor === undefined) return;
    cursor = page.next_cursor;
    await breathe();
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

/** A page of lines. */
export async function findRows(store: Store, filter: RowFilter, limit: number): Promise<Page<RunRow>> {
  const test = rowTest(filter);
  const items: RunRow[] = [];
  let read = 0;
  for await (const receipts of scan(store, filter, Math.min(CHUNK, limit + 1))) {
    for (const receipt of receipts) {
      read += 1;
      const row = rowOf(receipt);
      if (test(row)) items.push(row);
      if (items.length >= limit || read >= MOST_READ) {
        return { items, next_cursor: encodeCursor({ time: receipt.startedAt, id: runKey(receipt.runId) }) };
      }
    }
  }
  return { items };
}
