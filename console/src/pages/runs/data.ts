import { type InfiniteData, infiniteQueryOptions, type QueryClient, queryOptions, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useRef, useState } from 'react';
import { get, withQuery } from '../../api/client.ts';
import { type StreamState, useStream } from '../../api/streams.ts';
import type { RunRow, RunRowList, Usage } from '../../api/types.ts';
import type { UrlState } from '../../base/url-state.ts';
import { filterOf } from './filter.ts';

const FIRST = 60;
const LATER = 200;
/** Live changes are shown at most four times a second. */
const BATCH_MS = 250;
const MOST_ROWS = 5000;

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

export function histogramQuery(state: UrlState, span: number) {
  const filter = filterOf(state);
  const bucket = span <= 6 * 3_600_000 ? '1m' : span <= 14 * 24 * 3_600_000 ? '1h' : '1d';
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

/** Follows the list live. While `held`, what comes is counted and waits. */
export function useLiveRows(state: UrlState, on: boolean, held: boolean): Live {
  const client = useQueryClient();
  const pending = useRef(new Map<string, RunRow>());
  const timer = useRef<number | undefined>(undefined);
  const [newer, setNewer] = useState(0);
  const show = useCallback(() => {
    merge(client, state, pending.current);
    pending.current = new Map();
    setNewer(0);
  }, [client, state]);
  const heldNow = useRef(held);
  heldNow.current = held;
  const hear = (data: string): void => {
    const row = JSON.parse(data) as RunRow; // a line of the server's own stream
    pending.current.set(row.run_id, row);
    timer.current ??= window.setTimeout(() => {
      timer.current = undefined;
      if (heldNow.current) setNewer(pending.current.size);
      else show();
    }, BATCH_MS);
  };
  useEffect(() => {
    if (!held && pending.current.size > 0) show();
  }, [held, show]);
  const { since: _since, until: _until, ...filter } = filterOf(state);
  const root = Object.values(filter).every((value) => value === undefined) ? { root: 'true' } : {};
  const url = on ? withQuery('/v1/runs/stream', { ...filter, ...root }) : null;
  const stream = useStream(url, { 'run.started': hear, 'run.progress': hear, 'run.ended': hear });
  return { stream, newer, show };
}
