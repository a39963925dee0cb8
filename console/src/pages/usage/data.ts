import { queryOptions } from '@tanstack/react-query';
import { get, withQuery } from '../../api/client.ts';
import type { Agents, Catalogue, Forecast, RunRowList, Usage } from '../../api/types.ts';

export const MEASURES = [
  ['cost', 'Cost'],
  ['tokens', 'Tokens'],
  ['runs', 'Runs'],
  ['first_byte', 'First byte'],
  ['errors', 'Errors'],
] as const;
export type Measure = (typeof MEASURES)[number][0];

export const GROUPS = [
  ['engine', 'Engine'],
  ['model', 'Model'],
  ['key', 'Key'],
  ['agent', 'Coding agent'],
  ['made', 'Agent'],
  ['tag', 'Tag'],
] as const;
export type GroupName = (typeof GROUPS)[number][0];

export const BUCKETS = [
  ['1m', 'minute'],
  ['1h', 'hour'],
  ['1d', 'day'],
  ['month', 'month'],
] as const;

export const SPANS = [
  ['3600000', 'Last hour'],
  ['86400000', 'Last day'],
  ['604800000', 'Last 7 days'],
  ['2592000000', 'Last 30 days'],
  ['31536000000', 'Last year'],
] as const;

/** When a span began that ends now. */
export const sinceOf = (span: number): string => new Date(Date.now() - span).toISOString();

export interface UsageAsk {
  readonly group: string;
  readonly bucket: string;
  readonly span: number;
}

export const usageQuery = ({ group, bucket, span }: UsageAsk) =>
  queryOptions({
    queryKey: ['usage', group, bucket, span],
    queryFn: async () => {
      const since = sinceOf(span);
      const asked = {
        ...{ metric: 'cost,tokens,runs,first_byte', since },
        ...{ group_by: group === 'made' ? 'tag' : group, bucket: bucket === 'month' ? '1d' : bucket },
      };
      const found = await get<Usage>(withQuery('/v1/usage', asked));
      const usage = group === 'made' ? await byAgent(found) : group === 'tag' ? withoutOwnTags(found) : found;
      return bucket === 'month' ? byMonth(usage) : usage;
    },
    staleTime: 15_000,
    refetchInterval: 60_000,
    placeholderData: (before) => before,
  });

/** Calls of turns carry tags of the server: of the agent, the session and the turn. */
const AGENT_TAG = 'agent:';
const OWN_TAG = /^(?:agent|session|turn):/;

function withoutOwnTags(usage: Usage): Usage {
  return { ...usage, groups: usage.groups.filter(({ key }) => !OWN_TAG.test(key.tag ?? '')) };
}

/** Agents that were made here, told by the tag that their calls carry, and named. */
async function byAgent(usage: Usage): Promise<Usage> {
  const { items } = await get<Agents>('/v1/agents');
  const names = Object.fromEntries(items.map(({ id, name }) => [`${AGENT_TAG}${id}`, name]));
  return { ...usage, names: { ...usage.names, ...names }, groups: usage.groups.filter(({ key }) => key.tag?.startsWith(AGENT_TAG)) };
}

const SUMS = ['runs', 'failed', 'cost_nano_usd', 'unpriced', 'tokens_in', 'tokens_out', 'cache_read', 'thinking'] as const;

/** Days added up by month. A median of months cannot be made of medians of days: the first byte is left out. */
function byMonth(usage: Usage): Usage {
  const months = [...new Set(usage.buckets.map((start) => start.slice(0, 7)))];
  const folded = (values: readonly number[] | undefined): number[] =>
    months.map((month) => usage.buckets.reduce((total, start, at) => total + (start.startsWith(month) ? (values?.[at] ?? 0) : 0), 0));
  const groups = usage.groups.map(({ key, ...group }) => ({ key, ...Object.fromEntries(SUMS.map((name) => [name, folded(group[name])])) }));
  return { ...usage, buckets: months.map((month) => `${month}-01T00:00:00.000Z`), groups };
}

/** Calls that were refused for a field of theirs, as filters of a list of runs. */
export const REFUSED = { fate: 'refused' } as const;
/** Sums know codes alone; the words that a refusal was told in stand in the lines of its runs. */
const MOST_REFUSALS = 200;

export const refusalsQuery = (span: number) =>
  queryOptions({
    queryKey: ['usage', 'refusals', span],
    queryFn: async () => {
      const since = sinceOf(span);
      const [total, newest] = await Promise.all([
        get<Usage>(withQuery('/v1/usage', { metric: 'runs', fate: REFUSED.fate, since })),
        get<RunRowList>(withQuery('/v1/runs', { ...REFUSED, view: 'row', since, limit: MOST_REFUSALS })),
      ]);
      return { total, newest };
    },
    staleTime: 60_000,
  });

export const fatesQuery = (span: number) =>
  queryOptions({
    queryKey: ['usage', 'fates', span],
    queryFn: () => get<Usage>(withQuery('/v1/usage', { metric: 'runs', group_by: 'fate,engine', since: sinceOf(span) })),
    staleTime: 60_000,
  });

export interface ForecastAsk {
  /** `engine/model` whose calls would move. */
  readonly from: string | undefined;
  readonly to: readonly string[];
  readonly span: number;
}

export const forecastQuery = ({ from, to, span }: ForecastAsk) =>
  queryOptions({
    queryKey: ['forecast', from, to, span],
    queryFn: () => {
      const at = from?.indexOf('/') ?? -1;
      const since = sinceOf(span);
      const asked = { engine: from?.slice(0, at), model: from?.slice(at + 1), to: to.join(','), since };
      return get<Forecast>(withQuery('/v1/usage/forecast', asked));
    },
    enabled: from !== undefined && to.length > 0,
    staleTime: 60_000,
    placeholderData: (before) => before,
    retry: false,
  });

/** Models of the catalogue by a part of their name; asked for once two letters are there. */
export const modelsQuery = (text: string) =>
  queryOptions({
    queryKey: ['catalogue', text],
    queryFn: () => get<Catalogue>(withQuery('/v1/matrix/models', { q: text })),
    enabled: text.length >= 2,
    staleTime: 3_600_000,
    placeholderData: (before) => before,
  });

type Group = Usage['groups'][number];

/** The figure of a measure in one bucket of a group. */
function figure(group: Group, measure: Measure, index: number): number {
  if (measure === 'cost') return group.cost_nano_usd?.[index] ?? 0;
  if (measure === 'tokens') return (group.tokens_in?.[index] ?? 0) + (group.tokens_out?.[index] ?? 0);
  if (measure === 'runs') return group.runs?.[index] ?? 0;
  if (measure === 'errors') return group.failed?.[index] ?? 0;
  return group.first_byte_ms?.p50[index] ?? 0;
}

export function sum(values: readonly number[] | undefined): number {
  return (values ?? []).reduce((total, value) => total + value, 0);
}

/** The filter of the runs of a key, or of those without one. */
export function ofKey(key: string | null | undefined): Readonly<Record<string, string>> {
  return key === null || key === undefined ? { unkeyed: 'true' } : { key };
}

/** The value of a group; keys have names. */
export function nameOf({ key }: Group, usage: Usage | undefined): string {
  const [[name, value] = []] = Object.entries(key);
  if (name === 'key' && value === null) return 'without a key';
  return value === undefined || value === null ? 'none' : (usage?.names?.[value] ?? value);
}

const MOST_SERIES = 7;

/** The seven largest groups, and the others as one. */
export function seriesOf(usage: Usage, measure: Measure): readonly { readonly name: string; readonly values: readonly number[] }[] {
  const all = usage.groups.map((group) => ({
    name: nameOf(group, usage),
    values: usage.buckets.map((_, index) => figure(group, measure, index)),
  }));
  const sorted = all.toSorted((a, b) => sum(b.values) - sum(a.values));
  const rest = sorted.slice(MOST_SERIES);
  if (rest.length === 0) return sorted;
  return [
    ...sorted.slice(0, MOST_SERIES),
    { name: 'others', values: usage.buckets.map((_, index) => sum(rest.map(({ values }) => values[index] ?? 0))) },
  ];
}
