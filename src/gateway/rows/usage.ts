import { ownTurn } from '../../base/bounded/turns.ts';
import { isoTime } from '../../base/clock.ts';
import { AbpError } from '../../contract/errors.ts';
import { Fate } from '../../contract/negotiation.ts';
import { type CallUsage, callsIn } from '../../receipts/usage/call-usage.ts';
import { lateEndedBetween, withoutLateEnd } from '../../receipts/usage/late-usage.ts';
import { keyNames } from '../../store/keys.ts';
import type { StoredReceipt } from '../../store/receipts/receipt-columns.ts';
import type { Store } from '../../store/store.ts';
import { storedTags } from '../../store/tags.ts';
import {
  DAY_MS,
  HOUR_MS,
  type RollupChoice,
  type RollupFacet,
  rollupDurations,
  rollupPositions,
  sealedReceipts,
  sumRollups,
} from '../../store/usage/rollups.ts';
import type { Usage, UsageQuery } from '../api/run-rows.ts';
import { type RowFilter, rowTest, scan } from './find-rows.ts';
import { rowOf } from './run-row.ts';
import { type Counted, type GroupKey, UsageSums } from './usage-sums.ts';

const BUCKET_MS = { '1m': 60_000, '1h': HOUR_MS, '1d': DAY_MS } as const;
const MOST_BUCKETS = 5000;
/** Receipts that are read between two breaths of the event loop. */
const CHUNK = 500;

/** Which column of the sums a group stands in. */
const COLUMNS = {
  engine: 'engine',
  model: 'model',
  key: 'key_id',
  agent: 'agent',
  tag: 'tags',
  status: 'status',
  mode: 'mode',
  error: 'error',
  fate: 'fates',
} as const satisfies Record<string, RollupFacet>;
type Group = keyof typeof COLUMNS;

/** Conditions that the sums do not know; a question with one of them is answered from receipts alone. */
const ROW_ONLY = ['plane', 'reason', 'parent', 'root', 'min_cost_nano_usd', 'min_ms', 'q'] as const;

/** Whose calls are counted. */
type Own = Pick<RowFilter, 'unkeyed' | 'key' | 'keys'>;

/** A question about usage, with its times and bounds worked out. */
interface Question {
  readonly query: UsageQuery;
  readonly own: Own;
  readonly groups: readonly Group[];
  readonly since: number;
  readonly until: number;
  readonly starts: readonly number[];
}

/** The same with what was counted so far. */
interface Asked extends Question {
  readonly sums: UsageSums;
}

/** The usage of calls that have ended. Runs that are made of calls are left out, so that nothing counts twice. */
export async function usageOf(store: Store, query: UsageQuery, own: Own): Promise<Usage> {
  const until = query.until ?? Date.now();
  const since = query.since ?? until - DAY_MS;
  const starts = bucketStarts(query.bucket, since, until);
  const question: Question = { query, own, groups: query.group_by ?? [], since, until, starts };
  const summed = query.bucket === '1m' || ROW_ONLY.some((name) => query[name] !== undefined) ? undefined : wholeHours(question);
  const asked = summed === undefined ? { ...question, sums: new UsageSums(starts.length) } : await addSummed(store, question, summed);
  if (summed === undefined) await countBetween(store, asked, since, until);
  const keys = asked.groups.includes('key') ? await keyNames(store, asked.sums.values('key')) : undefined;
  return {
    buckets: starts.map(isoTime),
    groups: asked.sums.view(query.metric),
    ...(keys === undefined ? {} : { names: Object.fromEntries(keys) }),
    from_rollup_until: summed === undefined ? null : isoTime(summed.until),
  };
}

/** The beginnings of the buckets between two times. */
function bucketStarts(bucket: UsageQuery['bucket'], since: number, until: number): number[] {
  if (bucket === 'none') return [since];
  const step = BUCKET_MS[bucket];
  const first = Math.floor(since / step) * step;
  const many = Math.ceil((until - first) / step);
  if (many > MOST_BUCKETS) {
    throw new AbpError(
      'invalid_request',
      `That would be ${many} buckets of ${bucket}; ${MOST_BUCKETS} are the most. Take a larger bucket or a shorter time.`,
    );
  }
  return Array.from({ length: Math.max(many, 1) }, (_, index) => first + index * step);
}

interface Times {
  readonly since: number;
  readonly until: number;
}

/** The hours that lie wholly between two times; an hour that has not ended is whole when the question goes up to now. */
function wholeHours({ since, until }: Times): Times | undefined {
  const first = Math.ceil(since / HOUR_MS) * HOUR_MS;
  const last = until >= Date.now() - 1000 ? Math.ceil(until / HOUR_MS) * HOUR_MS : Math.floor(until / HOUR_MS) * HOUR_MS;
  return first < last ? { since: first, until: last } : undefined;
}

/** Whole hours from the keeper's sums, what the sums do not have yet from receipts, and the pieces of hours at both ends likewise. */
async function addSummed(store: Store, question: Question, hours: Times): Promise<Asked> {
  const { asked, positions } = await stableSums(store, question, hours);
  for (const { chain, sequence, sealed } of positions) await addTail(store, asked, { hours, chain, sequence, sealed });
  await countBetween(store, asked, asked.since, hours.since);
  await countBetween(store, asked, hours.until, asked.until);
  return asked;
}

/** The keeper adds once a second; a sum that is read while it does is read again. */
const MOST_READS = 20;

/** Sums and the places up to which they hold: the same before and after they were read, so that no receipt is missed or counted twice. */
async function stableSums(store: Store, question: Question, hours: Times): Promise<{ asked: Asked; positions: Positions }> {
  let positions = await rollupPositions(store);
  for (let reads = 0; reads < MOST_READS; reads += 1) {
    const asked: Asked = { ...question, sums: new UsageSums(question.starts.length) };
    for (const part of partsOf(asked, hours)) await addPart(store, asked, part);
    const after = await rollupPositions(store);
    const moved = after.some(({ chain, sequence }) => positions.find((one) => one.chain === chain)?.sequence !== sequence);
    positions = after;
    if (!moved) return { asked, positions };
  }
  throw new AbpError('overloaded', 'The sums of usage change faster than they can be read; ask again.');
}

type Positions = Awaited<ReturnType<typeof rollupPositions>>;

/** Days where nobody asks for hours, and the hours before the first and after the last of them. */
function partsOf({ query: { bucket } }: Question, { since, until }: Times): (Times & Pick<RollupChoice, 'span'>)[] {
  const [first, last] = [Math.ceil(since / DAY_MS) * DAY_MS, Math.floor(until / DAY_MS) * DAY_MS];
  if (bucket === '1h' || first >= last) return [{ span: 'h', since, until }];
  const parts: (Times & Pick<RollupChoice, 'span'>)[] = [
    { span: 'h', since, until: first },
    { span: 'd', since: first, until: last },
    { span: 'h', since: last, until },
  ];
  return parts.filter((part) => part.since < part.until);
}

function choiceOf({ query, own }: Question, part: Times & Pick<RollupChoice, 'span'>): RollupChoice {
  const { engine, model, status, mode, agent, error, tag, fate } = query;
  const key = own.unkeyed === true ? '' : own.key;
  const wanted = { engine, model, status, mode, agent, error, key_id: key };
  return {
    ...part,
    keys: own.keys,
    equal: Object.fromEntries(Object.entries(wanted).filter((pair): pair is [string, string] => pair[1] !== undefined)),
    tag,
    fates: fate === undefined ? undefined : 1 << Fate.options.indexOf(fate),
  };
}

async function addPart(store: Store, asked: Asked, part: Times & Pick<RollupChoice, 'span'>): Promise<void> {
  const { query, groups, sums } = asked;
  const choice = choiceOf(asked, part);
  const facets: RollupFacet[] = [...groups.map((group) => COLUMNS[group]), ...(query.bucket === 'none' ? [] : (['start'] as const))];
  for (const row of await sumRollups(store, choice, facets)) {
    const at = bucketAt(asked, row.start ?? part.since);
    for (const key of groupKeys(groups, row)) sums.add(key, at, row);
  }
  if (!query.metric.includes('first_byte') && !query.metric.includes('total')) return;
  for (const row of await rollupDurations(store, choice, facets)) {
    const at = bucketAt(asked, row.start ?? part.since);
    for (const key of groupKeys(groups, row)) sums.addDurations(key, at, row);
  }
}

/** Receipts that the keeper has sealed and not added up yet; as a rule those of the last second. */
async function addTail(
  store: Store,
  asked: Asked,
  { hours, chain, sequence, sealed }: { hours: Times; chain: number; sequence: number; sealed: number },
): Promise<void> {
  for (let after = sequence; after < sealed; await ownTurn()) {
    const receipts = (await sealedReceipts(store, chain, after, CHUNK)).filter((receipt) => (receipt.sequence ?? 0) <= sealed);
    const last = receipts.at(-1)?.sequence;
    if (last === undefined || last === null) return;
    const inside = receipts.filter(({ startedAt }) => startedAt >= hours.since && startedAt < hours.until);
    for (const call of await callsIn(store, inside)) count(asked, call);
    after = last;
  }
}

/** Counts the receipts of calls that began between two times. */
async function countBetween(store: Store, asked: Asked, since: number, until: number): Promise<void> {
  if (since >= until) return;
  const { plane } = asked.query;
  const test = rowTest(asked.query);
  for await (const receipts of endedBetween(store, asked, since, until)) {
    const kept = receipts.filter((receipt) => (plane === undefined || receipt.plane === plane) && test(rowOf(receipt)));
    for (const call of await callsIn(store, kept)) count(asked, call);
  }
}

/** Receipts of runs that began between two times, as they ended by the last word of their own node. Those that do not fit may be among them. */
async function* endedBetween(store: Store, { query }: Asked, since: number, until: number): AsyncGenerator<readonly StoredReceipt[]> {
  const { plane, engine, status, tag, parent } = query;
  yield* lateEndedBetween(store, since, until);
  for await (const { items } of scan(store, { plane, engine, status, tag, parent, since, until }, CHUNK)) {
    yield await withoutLateEnd(store, items);
  }
}

/** Adds a call, if it is one that was asked for. */
function count(asked: Asked, call: CallUsage): void {
  const { query, own, groups, sums } = asked;
  const { engine, model, status, mode, agent, error, tag, fate } = query;
  const key = own.unkeyed === true ? '' : own.key;
  const wanted = { engine, model, status, mode, agent, error, key_id: key };
  for (const [name, value] of Object.entries(wanted)) if (value !== undefined && call[name as keyof typeof wanted] !== value) return;
  if (own.keys?.includes(call.key_id) === false) return;
  if (tag !== undefined && !storedTags(call.tags).includes(tag)) return;
  if (fate !== undefined && (call.fates & (1 << Fate.options.indexOf(fate))) === 0) return;
  const at = bucketAt(asked, call.startedAt);
  const counted: Counted = { ...call, calls: 1, failed: call.status === 'failed' ? 1 : 0 };
  for (const groupKey of groupKeys(groups, call)) {
    sums.add(groupKey, at, counted);
    sums.addCall(groupKey, at, call);
  }
}

function bucketAt({ query: { bucket }, starts }: Question, time: number): number {
  return bucket === 'none' ? 0 : Math.floor((time - (starts[0] ?? 0)) / BUCKET_MS[bucket]);
}

/** A call stands in one group of each kind, but in one per tag and per fate that it has. */
function groupKeys(groups: readonly Group[], row: Partial<Record<RollupFacet, string | number>>): GroupKey[] {
  let keys: GroupKey[] = [{}];
  for (const group of groups) {
    const values = valuesOf(group, row[COLUMNS[group]] ?? '');
    keys = keys.flatMap((key) => values.map((value) => ({ ...key, [group]: value })));
  }
  return keys;
}

function valuesOf(group: Group, value: string | number): readonly (string | null)[] {
  if (group === 'fate') return Fate.options.filter((_, index) => (Number(value) & (1 << index)) > 0);
  if (group !== 'tag') return [value === '' ? null : String(value)];
  const tags = storedTags(String(value));
  return tags.length === 0 ? [null] : tags;
}
