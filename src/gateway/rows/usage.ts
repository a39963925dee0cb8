import { isoTime } from '../../base/clock.ts';
import { AbpError } from '../../contract/errors.ts';
import { Fate } from '../../contract/negotiation.ts';
import { parseRunId } from '../../contract/run-id.ts';
import { runKey } from '../../store/receipts/receipt-columns.ts';
import type { Store } from '../../store/store.ts';
import type { RunRow, Usage, UsageQuery } from '../api/run-rows.ts';
import { type RowFilter, rowTest, scan } from './find-rows.ts';
import { rowOf } from './run-row.ts';

const MINUTE = 60_000;
const BUCKET_MS = { '1m': MINUTE, '1h': 60 * MINUTE, '1d': 24 * 60 * MINUTE } as const;
const MOST_BUCKETS = 5000;
const MOST_GROUPS = 1000;
const DAY = 24 * 60 * MINUTE;

interface Sum {
  readonly key: Record<string, string | null>;
  readonly runs: number[];
  readonly failed: number[];
  readonly cost: number[];
  readonly unpriced: number[];
  readonly tokensIn: number[];
  readonly tokensOut: number[];
  readonly cacheRead: number[];
  readonly firstByte: Quantiles[];
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

/** The usage of calls, counted from their receipts. Runs that are made of calls are left out, so that nothing counts twice. */
export async function usageOf(store: Store, query: UsageQuery, own: Pick<RowFilter, 'unkeyed' | 'key'>): Promise<Usage> {
  const until = query.until ?? Date.now();
  const since = query.since ?? until - DAY;
  const starts = bucketStarts(query.bucket, since, until);
  const step = query.bucket === 'none' ? Number.POSITIVE_INFINITY : BUCKET_MS[query.bucket];
  const [first = since] = starts;
  const sums = new Map<string, Sum>();
  const test = rowTest(query);
  const names = query.group_by ?? [];
  for await (const receipts of scan(store, { ...query, plane: 'gateway', since, until, ...own })) {
    const rows = receipts.map(rowOf).filter(test);
    const agents = names.includes('agent') ? await agentsOf(store, rows) : undefined;
    for (const row of rows) {
      const at = Math.floor((Date.parse(row.started_at) - first) / step);
      for (const key of keysOf(row, names, agents)) add(sumFor(sums, key, starts.length), at, row);
    }
  }
  return { buckets: starts.map(isoTime), groups: [...sums.values()].map((sum) => view(sum, query)), from_rollup_until: null };
}

type Key = Record<string, string | null>;

/** A call stands in one group of each kind, but in one per tag and per fate that it has. */
function keysOf(row: RunRow, names: readonly string[], agents: ReadonlyMap<string, string> | undefined): Key[] {
  let keys: Key[] = [{}];
  for (const name of names) {
    const values = valuesOf(row, name, agents);
    keys = keys.flatMap((key) => values.map((value) => ({ ...key, [name]: value })));
  }
  return keys;
}

function valuesOf(row: RunRow, name: string, agents: ReadonlyMap<string, string> | undefined): readonly (string | null)[] {
  switch (name) {
    case 'engine':
      return [row.engine];
    case 'model':
      return [row.model_upstream ?? row.model];
    case 'key':
      return [row.key_id];
    case 'agent':
      return [agents?.get(row.parent_run_id ?? '') ?? null];
    case 'tag':
      return row.tags.length === 0 ? [null] : row.tags;
    case 'status':
      return [row.status];
    case 'mode':
      return [row.mode];
    default:
      return Fate.options.filter((_, index) => (row.fates[index] ?? 0) > 0);
  }
}

function sumFor(sums: Map<string, Sum>, key: Key, length: number): Sum {
  const id = JSON.stringify(key);
  const known = sums.get(id);
  if (known !== undefined) return known;
  if (sums.size >= MOST_GROUPS)
    throw new AbpError('invalid_request', `There are more than ${MOST_GROUPS} groups; narrow the time or the filters.`);
  const zeros = (): number[] => Array<number>(length).fill(0);
  const sum: Sum = {
    ...{ key, runs: zeros(), failed: zeros(), cost: zeros(), unpriced: zeros(), tokensIn: zeros(), tokensOut: zeros(), cacheRead: zeros() },
    firstByte: Array.from({ length }, () => new Quantiles()),
  };
  sums.set(id, sum);
  return sum;
}

function add(sum: Sum, at: number, row: RunRow): void {
  const plus = (series: number[], value: number): void => {
    if (at >= 0 && at < series.length) series[at] = (series[at] ?? 0) + value;
  };
  plus(sum.runs, 1);
  if (row.status === 'failed') plus(sum.failed, 1);
  if (row.cost_nano_usd !== null) plus(sum.cost, row.cost_nano_usd);
  else if (row.tokens !== null) plus(sum.unpriced, 1);
  plus(sum.tokensIn, row.tokens?.in ?? 0);
  plus(sum.tokensOut, row.tokens?.out ?? 0);
  plus(sum.cacheRead, row.tokens?.cache_read ?? 0);
  if (row.first_byte_ms !== null) sum.firstByte[at]?.add(row.first_byte_ms);
}

function view(sum: Sum, { metric }: UsageQuery): Usage['groups'][number] {
  return {
    key: sum.key,
    ...(metric.includes('runs') ? { runs: sum.runs, failed: sum.failed } : {}),
    ...(metric.includes('cost') ? { cost_nano_usd: sum.cost, unpriced: sum.unpriced } : {}),
    ...(metric.includes('tokens') ? { tokens_in: sum.tokensIn, tokens_out: sum.tokensOut, cache_read: sum.cacheRead } : {}),
    ...(metric.includes('first_byte')
      ? { first_byte_ms: { p50: sum.firstByte.map((values) => values.at(0.5)), p95: sum.firstByte.map((values) => values.at(0.95)) } }
      : {}),
  };
}

/** Neighbouring steps differ by two percent, which is as exact as a figure on a page is read. */
const STEP = Math.log(1.02);

/** Quantiles of many durations in little memory: values are counted by their size, rounded to two percent. */
class Quantiles {
  readonly #counts = new Map<number, number>();
  #many = 0;

  add(value: number): void {
    const step = Math.round(Math.log(Math.max(value, 0.001)) / STEP);
    this.#counts.set(step, (this.#counts.get(step) ?? 0) + 1);
    this.#many += 1;
  }

  /** The value below which this share of all values lies; null when there are none. */
  at(share: number): number | null {
    if (this.#many === 0) return null;
    let left = Math.max(1, Math.ceil(this.#many * share));
    for (const step of [...this.#counts.keys()].sort((a, b) => a - b)) {
      left -= this.#counts.get(step) ?? 0;
      if (left <= 0) return Math.round(Math.exp(step * STEP) * 1000) / 1000;
    }
    return null;
  }
}

/** The coding agents on whose behalf calls were made, by the id of the parent run. */
async function agentsOf(store: Store, rows: readonly RunRow[]): Promise<ReadonlyMap<string, string>> {
  const parents = new Map<string, string>();
  for (const { parent_run_id: parent } of rows) {
    const run = parent === null ? undefined : parseRunId(parent);
    if (run !== undefined) parents.set(runKey(run), run);
  }
  if (parents.size === 0) return new Map();
  const found = await store.db
    .selectFrom('runs')
    .select(['run_id', 'agent'])
    .where('run_id', 'in', [...parents.keys()])
    .execute();
  return new Map(found.map(({ run_id, agent }) => [parents.get(run_id) ?? run_id, agent]));
}
