import { type Connection, getDocument } from './http.ts';

/** The members of a call by which the server can group usage. */
export type UsageGroup = 'engine' | 'model' | 'key' | 'agent' | 'tag' | 'status' | 'mode' | 'error' | 'fate';

/** Which calls are counted, and how. */
export interface UsageQuery {
  /** A date or an RFC 3339 time; 24 hours ago unless told. */
  readonly since?: string;
  readonly until?: string;
  readonly groupBy?: readonly UsageGroup[];
  readonly bucket?: '1m' | '1h' | '1d' | 'none';
  readonly engine?: string;
  readonly model?: string;
  /** The id of a key, or its name. */
  readonly key?: string;
  readonly tag?: string;
  readonly agent?: string;
  readonly status?: string;
  readonly mode?: string;
  readonly error?: string;
}

/** Shares of durations, one value per bucket; null where nothing was measured. */
export interface UsageDurations {
  readonly p50: readonly (number | null)[];
  readonly p95: readonly (number | null)[];
  readonly p99: readonly (number | null)[];
}

/** One group; every series has a value per bucket. */
export interface UsageSeries {
  /** The values that the group stands for, by what was grouped by. */
  readonly key: Readonly<Record<string, string | null>>;
  readonly runs: readonly number[];
  readonly failed: readonly number[];
  readonly costNanoUsd: readonly number[];
  /** Calls without a price; they are not in the cost. */
  readonly unpriced: readonly number[];
  readonly tokensIn: readonly number[];
  readonly tokensOut: readonly number[];
  readonly cacheRead: readonly number[];
  readonly thinking: readonly number[];
  readonly firstByteMs: UsageDurations;
  readonly totalMs: UsageDurations;
}

export interface UsageReport {
  /** The beginning of each bucket. */
  readonly buckets: readonly string[];
  readonly groups: readonly UsageSeries[];
  /** Grouped by key: the names of the keys by their ids. */
  readonly names: Readonly<Record<string, string>>;
}

/** The same by the names of the wire. */
type WireSeries = Pick<UsageSeries, 'key' | 'runs' | 'failed' | 'unpriced' | 'thinking'> & {
  readonly [Member in 'cost_nano_usd' | 'tokens_in' | 'tokens_out' | 'cache_read']: readonly number[];
} & { readonly [Member in 'first_byte_ms' | 'total_ms']: UsageDurations };
type WireUsage = Pick<UsageReport, 'buckets'> & Partial<Pick<UsageReport, 'names'>> & { readonly groups: readonly WireSeries[] };

/** Asks the server to add calls up: how many, tokens, cost and durations. */
export async function usageOf(connection: Connection, { groupBy, ...rest }: UsageQuery): Promise<UsageReport> {
  const query = new URLSearchParams({ metric: 'cost,tokens,runs,first_byte,total' });
  if (groupBy !== undefined && groupBy.length > 0) query.set('group_by', groupBy.join(','));
  for (const [name, value] of Object.entries(rest)) if (value !== undefined) query.set(name, value);
  const { buckets, groups, names = {} } = await getDocument<WireUsage>(connection, `/v1/usage?${query}`);
  return { buckets, groups: groups.map(seriesOf), names };
}

function seriesOf({ key, runs, failed, unpriced, thinking, ...wire }: WireSeries): UsageSeries {
  return {
    ...{ key, runs, failed, unpriced, thinking },
    costNanoUsd: wire.cost_nano_usd,
    tokensIn: wire.tokens_in,
    tokensOut: wire.tokens_out,
    cacheRead: wire.cache_read,
    firstByteMs: wire.first_byte_ms,
    totalMs: wire.total_ms,
  };
}
