import { queryOptions } from '@tanstack/react-query';
import { get, withQuery } from '../../api/client.ts';
import type { RunRowList, Usage } from '../../api/types.ts';

const HOUR = 3_600_000;
const ago = (ms: number): string => new Date(Date.now() - ms).toISOString();

export const hourQuery = queryOptions({
  queryKey: ['home', 'hour'],
  queryFn: () => get<Usage>(withQuery('/v1/usage', { metric: 'runs,cost,first_byte', bucket: '1m', since: ago(HOUR) })),
  refetchInterval: 15_000,
});

export const hourSumQuery = queryOptions({
  queryKey: ['home', 'hour-sum'],
  queryFn: () => get<Usage>(withQuery('/v1/usage', { metric: 'runs,cost,first_byte', since: ago(HOUR) })),
  refetchInterval: 15_000,
});

export const enginesUsageQuery = queryOptions({
  queryKey: ['home', 'engines'],
  queryFn: () => get<Usage>(withQuery('/v1/usage', { metric: 'runs,cost,first_byte', group_by: 'engine', since: ago(24 * HOUR) })),
  refetchInterval: 30_000,
});

export const newestQuery = queryOptions({
  queryKey: ['home', 'newest'],
  queryFn: () => get<RunRowList>('/v1/runs?view=row&root=true&limit=20'),
  refetchInterval: 5000,
});

/** Adds up one member over groups, bucket by bucket. */
export function total({ buckets, groups }: Usage, name: 'runs' | 'failed' | 'cost_nano_usd'): number[] {
  return buckets.map((_, index) => groups.reduce((sum, group) => sum + (group[name]?.[index] ?? 0), 0));
}

/** What this server has been used for in a year: it ticks the steps that are left to try. */
export const seenQuery = queryOptions({
  queryKey: ['home', 'seen'],
  queryFn: async () => {
    const plane = async (name: string): Promise<boolean> =>
      (await get<RunRowList>(`/v1/runs?view=row&plane=${name}&limit=1`)).items.length > 0;
    const usage = get<Usage>(withQuery('/v1/usage', { metric: 'runs', group_by: 'engine,mode', since: ago(365 * 24 * HOUR) }));
    const [sums, run, agent] = await Promise.all([usage, plane('run'), plane('agent')]);
    return { usage: sums, run, agent };
  },
  staleTime: 60_000,
});
