import { AbpError } from '../../contract/errors.ts';
import type { CallUsage } from '../../receipts/usage/call-usage.ts';
import { Durations } from '../../receipts/usage/durations.ts';
import type { Rollup } from '../../store/usage/rollups.ts';
import type { Usage, UsageQuery } from '../api/run-rows.ts';

const MOST_GROUPS = 1000;

export type GroupKey = Readonly<Record<string, string | null>>;

const SERIES = ['calls', 'failed', 'unpriced', 'cost_nano_usd', 'tokens_in', 'tokens_out', 'cache_read', 'thinking'] as const;
type Series = (typeof SERIES)[number];

/** The amounts that a call, or a sum of calls, adds. */
export type Counted = Readonly<Record<Series, number>>;

interface Sum {
  readonly key: GroupKey;
  readonly series: Readonly<Record<Series, number[]>>;
  readonly firstByte: Durations[];
  readonly total: Durations[];
}

/** Usage by group and bucket, while it is being counted. */
export class UsageSums {
  readonly #buckets: number;
  readonly #sums = new Map<string, Sum>();

  constructor(buckets: number) {
    this.#buckets = buckets;
  }

  add(key: GroupKey, at: number, counted: Counted): void {
    const { series } = this.#sumOf(key);
    for (const name of SERIES) {
      const one = series[name];
      if (at >= 0 && at < one.length) one[at] = (one[at] ?? 0) + counted[name];
    }
  }

  /** Adds durations that the keeper has counted. */
  addDurations(key: GroupKey, at: number, { first_byte: firstByte, total }: Pick<Rollup, 'first_byte' | 'total'>): void {
    const sum = this.#sumOf(key);
    sum.firstByte[at]?.read(firstByte);
    sum.total[at]?.read(total);
  }

  /** Adds the durations of one call. */
  addCall(key: GroupKey, at: number, { firstByteMs, totalMs }: CallUsage): void {
    const sum = this.#sumOf(key);
    if (firstByteMs !== null) sum.firstByte[at]?.add(firstByteMs);
    if (totalMs !== null) sum.total[at]?.add(totalMs);
  }

  /** Every value of a group that was counted. */
  values(group: string): string[] {
    return [...new Set([...this.#sums.values()].flatMap(({ key }) => key[group] ?? []))];
  }

  /** Dearest first, then those with most calls. */
  view(metric: UsageQuery['metric']): Usage['groups'] {
    const whole = (series: readonly number[]): number => series.reduce((sum, value) => sum + value, 0);
    const order = ({ series }: Sum): [number, number] => [whole(series.cost_nano_usd), whole(series.calls)];
    const sorted = [...this.#sums.values()].filter(isCounted).map((sum) => ({ sum, order: order(sum) }));
    sorted.sort((a, b) => b.order[0] - a.order[0] || b.order[1] - a.order[1]);
    return sorted.map(({ sum }) => viewOf(sum, metric));
  }

  #sumOf(key: GroupKey): Sum {
    const id = JSON.stringify(key);
    const known = this.#sums.get(id);
    if (known !== undefined) return known;
    if (this.#sums.size >= MOST_GROUPS)
      throw new AbpError('invalid_request', `There are more than ${MOST_GROUPS} groups; narrow the time or the filters.`);
    const length = this.#buckets;
    const sum: Sum = {
      key,
      series: Object.fromEntries(SERIES.map((name) => [name, Array<number>(length).fill(0)])) as Sum['series'], // one per name
      firstByte: Array.from({ length }, () => new Durations()),
      total: Array.from({ length }, () => new Durations()),
    };
    this.#sums.set(id, sum);
    return sum;
  }
}

/** Whether a group has a call: those that were taken out of it again may have been all. */
function isCounted({ series }: Sum): boolean {
  return SERIES.some((name) => series[name].some((value) => value !== 0));
}

function viewOf({ key, series, firstByte, total }: Sum, metric: UsageQuery['metric']): Usage['groups'][number] {
  const { calls: runs, failed, cost_nano_usd, unpriced, tokens_in, tokens_out, cache_read, thinking } = series;
  return {
    key,
    ...(metric.includes('runs') ? { runs, failed } : {}),
    ...(metric.includes('cost') ? { cost_nano_usd, unpriced } : {}),
    ...(metric.includes('tokens') ? { tokens_in, tokens_out, cache_read, thinking } : {}),
    ...(metric.includes('first_byte') ? { first_byte_ms: quantiles(firstByte) } : {}),
    ...(metric.includes('total') ? { total_ms: quantiles(total) } : {}),
  };
}

function quantiles(durations: readonly Durations[]): { p50: (number | null)[]; p95: (number | null)[]; p99: (number | null)[] } {
  const at = (share: number): (number | null)[] => durations.map((one) => one.at(share));
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) };
}
