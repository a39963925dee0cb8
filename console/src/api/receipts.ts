import { queryOptions } from '@tanstack/react-query';
import { get } from './client.ts';
import type { Receipt } from './types.ts';

/** The receipt of a run; while the run goes on, what is known of it. */
export const receiptQuery = (run: string) =>
  queryOptions({
    queryKey: ['receipt', run],
    queryFn: ({ signal }) => get<Receipt>(`/v1/receipts/${run}`, signal),
    // A sealed receipt never changes.
    staleTime: ({ state }) => (state.data?.seal ? Number.POSITIVE_INFINITY : 500),
    refetchInterval: ({ state }) => (state.data !== undefined && !state.data.seal ? 1000 : false),
  });
