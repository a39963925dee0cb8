import { ownTurn } from '../../base/bounded/turns.ts';
import { decodeCursor, encodeCursor, type Page, type Position } from '../../store/page.ts';
import { type KindChoice, kindMarks, markedRuns, unmarkedReceipts } from '../../store/receipts/marked-runs.ts';
import { costMarks, fateMark, parentMark, tagMark } from '../../store/receipts/marks.ts';
import { runKey, type StoredReceipt } from '../../store/receipts/receipt-columns.ts';
import { type ReceiptFilter, receiptsAt } from '../../store/receipts/receipts.ts';
import type { Store } from '../../store/store.ts';
import type { RowQuery } from '../api/run-rows.ts';

/** Receipts without marks that a list looks through by itself; a home with more of them is still being marked. */
const MOST_UNMARKED = 2000;
/** Places that are looked at in one go where the first page was not enough. */
const LATER_CHUNK = 200;
/** Kinds that are looked up one by one; a text that is in more of them is in many receipts. */
const MOST_KINDS = 400;
/** Digits of an id may stand anywhere in it, and are looked for in the newest receipts alone. */
const ID_DIGITS = /^(run_)?[0-9a-f]{3,32}$/i;

export interface MarkedScan {
  readonly filter: RowQuery & Pick<ReceiptFilter, 'cursor'>;
  /** The part of it that the database selects by. */
  readonly choice: ReceiptFilter;
  readonly chunk: number;
}

/** Receipts that have what is rare among the things asked for, newest first; undefined where nothing of it has a mark. */
export async function markedReceipts(store: Store, scan: MarkedScan): Promise<AsyncGenerator<Page<StoredReceipt>> | undefined> {
  const marks = await marksFor(store, scan.filter);
  const unmarked = marks === undefined ? undefined : await unmarkedReceipts(store, MOST_UNMARKED);
  return marks === undefined || unmarked === undefined ? undefined : pages(store, scan, { marks, unmarked });
}

/** One of these every receipt has that fits. */
async function marksFor(store: Store, filter: RowQuery): Promise<readonly number[] | undefined> {
  const { parent, tag, q, reason, agent, fate, min_cost_nano_usd: cost } = filter;
  if (parent !== undefined) return [parentMark(parent)];
  if (tag !== undefined) return [tagMark(tag)];
  const kinds = await kindsFor(store, filter);
  if (kinds !== undefined && [q, reason, agent].some((asked) => asked !== undefined)) return kinds;
  if (cost !== undefined && cost > 0) return costMarks(cost);
  const mark = fate === undefined ? undefined : fateMark(fate);
  if (mark !== undefined) return [mark];
  // The receipts of a key have an index of their own, and are fewer than those of an engine as a rule.
  return filter.key === undefined ? kinds : undefined;
}

/** The marks of the kinds that fit; undefined where there are many, or nothing asked for tells them apart. */
async function kindsFor(store: Store, { engine, model, status, mode, agent, reason, q }: RowQuery): Promise<readonly number[] | undefined> {
  const named = { engine, model, status, mode, agent };
  const equal = Object.fromEntries(Object.entries(named).filter((pair): pair is [keyof typeof named, string] => pair[1] !== undefined));
  const words = q === undefined || ID_DIGITS.test(q) ? undefined : q;
  if (Object.keys(equal).length === 0 && reason === undefined && words === undefined) return undefined;
  return await few(store, { equal, why: reason, words });
}

async function few(store: Store, choice: KindChoice): Promise<readonly number[] | undefined> {
  const marks = await kindMarks(store, choice, MOST_KINDS);
  return marks.length > MOST_KINDS ? undefined : marks;
}

const placeOf = ({ startedAt, runId }: StoredReceipt): Position => ({ time: startedAt, id: runKey(runId) });
const isOlder = (one: Position, than: Position): boolean => one.time < than.time || (one.time === than.time && one.id < than.id);

async function* pages(
  store: Store,
  { filter, choice, chunk }: MarkedScan,
  { marks, unmarked }: { readonly marks: readonly number[]; readonly unmarked: readonly StoredReceipt[] },
): AsyncGenerator<Page<StoredReceipt>> {
  let before = filter.cursor === undefined ? undefined : decodeCursor(filter.cursor);
  for (let size = chunk; ; size = LATER_CHUNK) {
    const places = await markedRuns(store, marks, { since: choice.since, until: choice.until, before }, size);
    const last = places.length < size ? undefined : places.at(-1);
    const within = unmarked
      .map(placeOf)
      .filter((place) => (before === undefined || isOlder(place, before)) && (last === undefined || !isOlder(place, last)));
    const ids = new Set([...places, ...within].map(({ id }) => id));
    const items = ids.size === 0 ? [] : await receiptsAt(store, [...ids], choice);
    yield { items, ...(last === undefined ? {} : { next_cursor: encodeCursor(last) }) };
    if (last === undefined) return;
    before = last;
    await ownTurn();
  }
}
