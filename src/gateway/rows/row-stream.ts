import { setTimeout as sleep } from 'node:timers/promises';
import { encodeSse } from '../../base/sse.ts';
import { receiptOf } from '../../store/receipts/receipt-columns.ts';
import { listReceipts } from '../../store/receipts/receipts.ts';
import type { Store } from '../../store/store.ts';
import type { RowQuery, RunRow } from '../api/run-rows.ts';
import { maySee, seesAll } from '../auth/access.ts';
import type { Principal } from '../auth/principal.ts';
import type { Gateway } from '../gateway.ts';
import { ChainPlaces, OTHERS_MS } from './chain-places.ts';
import { rowTest, withKeyNames } from './find-rows.ts';
import { withLiveFacts } from './live-rows.ts';
import { rowOf } from './run-row.ts';
import { SettleBell } from './settle-bell.ts';

const PAGE = 200;
/** Proxies close connections that are silent for half a minute. */
const KEEP_ALIVE_MS = 15_000;
/** Changes are gathered, so that many runs make one piece of text. */
const GATHER_MS = 250;
const PROGRESS_MS = 1000;
const MOST_UNDER_WAY = 200;

/** The lines that a stream has told so far. */
interface Told {
  readonly places: ChainPlaces;
  readonly underWay: Map<string, string>;
  lastProgress: number;
}

/** Lines of runs as they begin, go on and end, on every node of the database, from a place in its chains on. */
export async function* rowEvents(
  gateway: Gateway,
  principal: Principal,
  query: RowQuery,
  after: string | undefined,
): AsyncGenerator<string> {
  const bell = new SettleBell(gateway);
  const notices = budgetTexts(gateway, principal, () => bell.ring());
  const test = wanted(query, principal);
  const places = await ChainPlaces.open(gateway, after, 'end');
  const told: Told = { places, underWay: new Map(), lastProgress: 0 };
  let saidAt = performance.now();
  try {
    yield encodeSse({ id: places.text, event: 'open', data: JSON.stringify({ sequence: places.own }) });
    while (!gateway.closing.aborted) {
      let silent = true;
      for await (const text of news(gateway, told, test, notices)) {
        silent = false;
        yield text;
      }
      const quiet = told.underWay.size > 0 ? PROGRESS_MS : KEEP_ALIVE_MS;
      if (await bell.rung(places.several ? OTHERS_MS : quiet)) await sleep(GATHER_MS, undefined, { ref: false });
      else if (silent && performance.now() - saidAt >= quiet) yield ': waiting\n\n';
      else continue;
      saidAt = performance.now();
    }
  } finally {
    notices.end();
    bell.end();
  }
}

/** Notices of budgets, for callers who see all of them. */
function budgetTexts({ budgetNotices }: Gateway, principal: Principal, ring: () => void): { take(): string; end(): void } {
  let text = '';
  if (!seesAll(principal)) return { take: () => text, end: () => undefined };
  const end = budgetNotices.listen((notice) => {
    text += encodeSse({ event: 'budget', data: JSON.stringify(notice) });
    ring();
  });
  return {
    take: () => {
      const taken = text;
      text = '';
      return taken;
    },
    end,
  };
}

function wanted(query: RowQuery, principal: Principal): (row: RunRow) => boolean {
  const test = rowTest(query);
  const same = (['plane', 'engine', 'status'] as const).filter((name) => query[name] !== undefined);
  return (row) =>
    maySee(principal, row.key_id) &&
    same.every((name) => row[name] === query[name]) &&
    (query.model === undefined || (row.upstream_model ?? row.model) === query.model) &&
    (query.key === undefined || row.key_id === query.key) &&
    (query.unkeyed !== true || row.key_id === null) &&
    (query.tag === undefined || row.tags.includes(query.tag)) &&
    test(row);
}

/** Lines of runs that have ended, then of those under way, and notices. A reader who was away for long gets them page by page. */
async function* news(gateway: Gateway, told: Told, test: (row: RunRow) => boolean, notices: { take(): string }): AsyncGenerator<string> {
  for (const { chain, place } of await told.places.behind()) yield* endedIn(gateway.store, { chain, place }, told, test);
  const text = (await underWay(gateway, told, test)) + notices.take();
  if (text !== '') yield text;
}

async function* endedIn(
  store: Store,
  from: { chain: number; place: number },
  told: Told,
  test: (row: RunRow) => boolean,
): AsyncGenerator<string> {
  const { chain } = from;
  for (let { place } = from; ; ) {
    let text = '';
    const found = await store.db
      .selectFrom('receipts')
      .selectAll()
      .where('chain', '=', chain)
      .where('sequence', '>', place)
      .orderBy('sequence')
      .limit(PAGE)
      .execute();
    const rows = await withKeyNames(
      store,
      found.map((stored) => rowOf(receiptOf(stored))),
    );
    for (const row of rows) {
      place = row.sequence ?? place;
      told.places.move(chain, place);
      told.underWay.delete(row.run_id);
      if (test(row)) text += encodeSse({ id: told.places.text, event: 'run.ended', data: JSON.stringify(row) });
    }
    if (text !== '') yield text;
    if (found.length < PAGE) return;
  }
}

async function underWay(gateway: Gateway, told: Told, test: (row: RunRow) => boolean): Promise<string> {
  const { items } = await listReceipts(gateway.store, { unfinished: true, limit: MOST_UNDER_WAY });
  const rows = await withKeyNames(gateway.store, await withLiveFacts(gateway, items.map(rowOf).filter(test)));
  const now = performance.now();
  const mayProgress = now - told.lastProgress >= PROGRESS_MS;
  if (mayProgress) told.lastProgress = now;
  let text = '';
  for (const row of rows) {
    const data = JSON.stringify(row);
    const before = told.underWay.get(row.run_id);
    if (before === data || (before !== undefined && !mayProgress)) continue;
    told.underWay.set(row.run_id, data);
    text += encodeSse({ event: before === undefined ? 'run.started' : 'run.progress', data });
  }
  for (const run of told.underWay.keys()) if (!rows.some((row) => row.run_id === run)) told.underWay.delete(run);
  return text;
}
