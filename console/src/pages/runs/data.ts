import { type InfiniteData, infiniteQueryOptions, type QueryClient, queryOptions, useQueries, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { get, withQuery } from '../../api/client.ts';
import { type StreamState, useStream } from '../../api/streams.ts';
import type { RunRow, RunRowList, Usage } from '../../api/types.ts';
import { whole } from '../../base/format.ts';
import type { UrlState } from '../../base/url-state.ts';
import { DEAR, filterOf } from './filter.ts';

const FIRST = 60;
const LATER = 200;
/** Live changes are shown at most four times a second. */
const BATCH_MS = 250;
const MOST_ROWS = 5000;
/** Rows that came live and are kept on top of the list, or wait for it; with more of them the list is read anew. */
const MOST_LIVE = 1000;

export function rowsQuery(state: UrlState) {
  const filter = filterOf(state);
  const root = Object.values(filter).every((value) => value === undefined) ? { root: 'true' } : {};
  return infiniteQueryOptions({
    queryKey: ['rows', filter],
    queryFn: ({ pageParam, signal }) =>
      get<RunRowList>(
        withQuery('/v1/runs', { view: 'row', ...filter, ...root, limit: pageParam === '' ? FIRST : LATER, cursor: pageParam }),
        signal,
      ),
    initialPageParam: '',
    getNextPageParam: (last) => last.next_cursor,
    maxPages: MOST_ROWS / LATER,
    staleTime: 30_000,
  });
}

const HOUR = 3_600_000;
const MONTH = 30 * 24 * HOUR;

/** Runs under way stand on top with their newest calls below them. */
const NEWEST_CALLS = 2;
const MOST_UNDER_WAY = 5;

function useNewestCalls(rows: readonly RunRow[]): ReadonlyMap<string, readonly RunRow[]> {
  const parents = rows.filter(({ plane, completed_at }) => plane !== 'gateway' && completed_at === null).slice(0, MOST_UNDER_WAY);
  const asked = useQueries({
    queries: parents.map(({ run_id }) => ({
      queryKey: ['newest-calls', run_id],
      queryFn: () => get<RunRowList>(`/v1/runs?view=row&parent=${run_id}&limit=${NEWEST_CALLS}`),
      refetchInterval: 2000,
    })),
  });
  return new Map(parents.map(({ run_id }, index) => [run_id, asked[index]?.data?.items ?? []]));
}

/** The rows as they stand in the list: runs under way first, each with its newest calls, then the rest by their start. */
export function useOrdered(pages: InfiniteData<RunRowList, unknown> | undefined): readonly RunRow[] {
  const rows = useMemo(() => pages?.pages.flatMap(({ items }) => items) ?? [], [pages]);
  const calls = useNewestCalls(rows);
  return useMemo(() => {
    const running = rows.filter(({ completed_at }) => completed_at === null);
    if (running.length === 0) return rows;
    const pinned = running.flatMap((row) => [row, ...(calls.get(row.run_id) ?? [])]);
    const above = new Set(pinned.map(({ run_id }) => run_id));
    return [
      ...pinned.filter((row, at) => pinned.findIndex(({ run_id }) => run_id === row.run_id) === at),
      ...rows.filter(({ run_id }) => !above.has(run_id)),
    ];
  }, [rows, calls]);
}

/** What the kept views come to. Calls are counted from the sums of the keeper; what these do not know is counted up to a bound. */
export function countsQuery(since: string | undefined) {
  return queryOptions({
    queryKey: ['view-counts', since],
    queryFn: async (): Promise<Readonly<Record<string, string>>> => {
      const from = since ?? new Date(Date.now() - MONTH).toISOString();
      const isShort = Date.now() - Date.parse(from) <= 25 * HOUR;
      const usage = (group_by: string): Promise<Usage> => get(withQuery('/v1/usage', { metric: 'runs', group_by, since: from }));
      const total = (filter: UrlState): Promise<RunRowList> =>
        get(withQuery('/v1/runs', { view: 'row', limit: 1, total: true, since: from, ...filter }));
      const [status, fate, coding, dear] = await Promise.all([
        usage('status'),
        usage('fate'),
        total({ plane: 'run' }),
        // No index knows the cost: a long time would be read receipt by receipt for one number.
        isShort ? total({ min_cost_nano_usd: DEAR }) : null,
      ]);
      const many = ({ groups }: Usage, key?: string, name = ''): string =>
        whole(groups.filter((group) => key === undefined || group.key[key] === name).reduce((sum, { runs }) => sum + (runs?.[0] ?? 0), 0));
      const counted = (list: RunRowList): string => `${whole(list.total ?? 0)}${list.total_is === 'at_least' ? '+' : ''}`;
      return {
        All: many(status),
        Failed: many(status, 'status', 'failed'),
        'Refused before spending': many(fate, 'fate', 'refused'),
        'Mapped with losses': many(fate, 'fate', 'dropped'),
        'Coding agents': counted(coding),
        ...(dear === null ? {} : { 'Over $0.10': counted(dear) }),
      };
    },
    staleTime: 60_000,
  });
}

/** How many runs there would be without one of the conditions. */
export function withoutQuery(state: UrlState, name: string) {
  const filter = { ...filterOf(state), [name]: undefined };
  return queryOptions({
    queryKey: ['without', filter],
    queryFn: async () => {
      const list = await get<RunRowList>(withQuery('/v1/runs', { view: 'row', limit: 1, total: true, ...filter }));
      return `${whole(list.total ?? 0)}${list.total_is === 'at_least' ? ' or more' : ''}`;
    },
    staleTime: 60_000,
  });
}

export function histogramQuery(state: UrlState, span: number) {
  const { before: _before, ...filter } = filterOf(state);
  const bucket = span <= 6 * HOUR ? '1m' : span <= 14 * 24 * HOUR ? '1h' : '1d';
  return queryOptions({
    queryKey: ['histogram', filter, span],
    queryFn: ({ signal }) => {
      const since = filter.since ?? new Date(Date.now() - span).toISOString();
      return get<Usage>(withQuery('/v1/usage', { ...filter, since, metric: 'runs', bucket }), signal);
    },
    refetchInterval: 30_000,
    staleTime: 15_000,
  });
}

type Rows = InfiniteData<RunRowList, string>;

/** Puts lines that came into the first page: known ones are replaced in place, new ones stand on top. */
function merge(client: QueryClient, state: UrlState, fresh: ReadonlyMap<string, RunRow>): void {
  client.setQueryData<Rows>(rowsQuery(state).queryKey, (before) => {
    const [first, ...rest] = before?.pages ?? [];
    if (before === undefined || first === undefined) return before;
    const left = new Map(fresh);
    const replaced = (page: RunRowList): RunRowList => {
      if (!page.items.some(({ run_id }) => left.has(run_id))) return page;
      const items = page.items.map((row) => {
        const newer = left.get(row.run_id);
        left.delete(row.run_id);
        return newer ?? row;
      });
      return { ...page, items };
    };
    const pages = [first, ...rest].map(replaced);
    const added = [...left.values()].sort((a, b) => b.started_at.localeCompare(a.started_at));
    const [top = first, ...below] = pages;
    return { ...before, pages: [{ ...top, items: [...added, ...top.items] }, ...below] };
  });
}

export interface Live {
  readonly stream: StreamState;
  /** Runs that have come and are not shown, because the list is not at its top. */
  readonly newer: number;
  show(): void;
}

/** Reads the beginning of the list anew; what is shown stays until it has come. Pages below are read again when somebody scrolls there. */
async function readAnew(client: QueryClient, state: UrlState): Promise<void> {
  await client.fetchInfiniteQuery({ ...rowsQuery(state), pages: 1, staleTime: 0 });
}

/** Follows the list live. While `held`, what comes is counted and waits. */
export function useLiveRows(state: UrlState, on: boolean, held: boolean): Live {
  const client = useQueryClient();
  const pending = useRef(new Map<string, RunRow>());
  /** Runs that ended while there was no more room for those that wait: each ends once, and short ones are told of once. */
  const missed = useRef(0);
  const timer = useRef<number | undefined>(undefined);
  const [newer, setNewer] = useState(0);
  const show = useCallback(() => {
    merge(client, state, pending.current);
    pending.current = new Map();
    setNewer(0);
    const top = client.getQueryData(rowsQuery(state).queryKey)?.pages[0]?.items.length ?? 0;
    if (missed.current === 0 && top <= MOST_LIVE) return;
    missed.current = 0;
    // A list that could not be read says so in its own place.
    readAnew(client, state).catch(() => undefined);
  }, [client, state]);
  const heldNow = useRef(held);
  heldNow.current = held;
  const hear = (data: string, ends = false): void => {
    const row = JSON.parse(data) as RunRow; // a line of the server's own stream
    if (pending.current.size < MOST_LIVE || pending.current.has(row.run_id)) pending.current.set(row.run_id, row);
    else if (ends) missed.current += 1;
    timer.current ??= window.setTimeout(() => {
      timer.current = undefined;
      if (heldNow.current) setNewer(pending.current.size + missed.current);
      else show();
    }, BATCH_MS);
  };
  useEffect(() => {
    if (!held && pending.current.size > 0) show();
  }, [held, show]);
  const { since: _since, until: _until, before: _before, ...filter } = filterOf(state);
  const root = Object.values(filter).every((value) => value === undefined) ? { root: 'true' } : {};
  const url = on ? withQuery('/v1/runs/stream', { ...filter, ...root }) : null;
  const stream = useStream(url, { 'run.started': hear, 'run.progress': hear, 'run.ended': (data) => hear(data, true) }, 'after');
  return { stream, newer, show };
}
