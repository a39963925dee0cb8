import { queryOptions } from '@tanstack/react-query';
import { get } from '../../api/client.ts';
import { ticksOf } from '../../api/receipts.ts';
import type { Receipt, RecordingLine, RunDetail, RunRowList } from '../../api/types.ts';
import { duration } from '../../base/format.ts';
import type { Lane } from '../../components/timeline/timeline.tsx';

export const runQuery = (run: string) =>
  queryOptions({
    queryKey: ['run', run],
    queryFn: () => get<RunDetail>(`/v1/runs/${run}`),
    refetchInterval: ({ state }) => (state.data?.completed_at === null ? 1000 : false),
    retry: false,
  });

export const childrenQuery = (run: string, live: boolean) =>
  queryOptions({
    queryKey: ['children', run],
    queryFn: () => get<RunRowList>(`/v1/runs?view=row&parent=${run}&limit=200`),
    refetchInterval: live ? 2000 : false,
  });

export const sameContentQuery = (receipt: Receipt) =>
  queryOptions({
    queryKey: ['same', receipt.receipt_sha256],
    queryFn: () => get<{ items: readonly Receipt[] }>(`/v1/receipts?content=${receipt.receipt_sha256}&limit=5`),
    enabled: receipt.receipt_sha256 !== null,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });

/**
 * Lanes that never overlap in meaning, so that nothing counts twice: three, and one more for each try that did not count. A receipt knows
 * how long a try took and when the last one began; pauses between tries are the backplane's, which stands before them all.
 */
export function callLanes(receipt: Receipt, recording: RecordingLine | undefined): readonly Lane[] {
  const { timing } = receipt;
  const failed = receipt.attempts.slice(0, -1);
  const last = timing.last_byte_ms ?? 0;
  const dispatched = timing.dispatched_ms ?? last;
  const first = timing.first_byte_ms ?? last;
  const ticks = ticksOf(recording);
  const note = ticks.length === 0 && last > first ? 'pieces are not recorded, only first and last byte' : undefined;
  const tried = failed.reduce((sum, { ms }) => sum + ms, 0);
  const own = Math.max(0, dispatched - tried);
  let at = own;
  const tries = failed.map(({ engine, deployment, status, error, ms }, index): Lane => {
    const from = at;
    at += ms;
    const why = [status ?? 'no answer', error].filter((word) => word !== null).join(': ');
    const bars = [{ from, to: at, kind: 'failed', title: why }] as const;
    return { name: `${index + 1}. ${deployment ?? engine}`, bars, sum: duration(ms), note: why };
  });
  return [
    { name: 'Backplane', bars: [{ from: 0, to: own, kind: 'own' }], sum: duration(own) },
    ...tries,
    { name: 'Engine silent', bars: [{ from: dispatched, to: first, kind: 'silent' }], sum: duration(Math.max(0, first - dispatched)) },
    {
      name: 'Answer arrives',
      bars: [],
      ticks: ticks.length > 0 ? ticks : [first, last],
      sum: duration(last - first),
      ...(note === undefined ? {} : { note }),
    },
  ];
}
