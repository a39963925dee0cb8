import { queryOptions, useQuery } from '@tanstack/react-query';
import type { z } from 'zod';
import type { AdapterDetail } from '../../../src/gateway/api/adapters.ts';
import type { UserList } from '../../../src/gateway/api/people.ts';
import type { SettingsView } from '../../../src/gateway/api/settings.ts';
import { get, OfflineError, withQuery } from './client.ts';
import type { Agents, Budgets, Engines, Fields, Health, Keys, Matrix, Readiness, RunRowList, Session } from './types.ts';

const SLOW_MS = 10_000;

/** Questions that more than one page asks. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: () => get<Session>('/v1/console/session'),
  staleTime: 60_000,
  refetchInterval: 60_000,
});

export const readyQuery = queryOptions({
  queryKey: ['ready'],
  // A server that is not ready answers 503 and says in the same words what is wrong.
  queryFn: () => get<Readiness>('/readyz', undefined, 503),
  refetchInterval: SLOW_MS,
  retry: false,
});

/** Why nothing can be done now; undefined while the server answers. */
export function useOffline(): string | undefined {
  const ready = useQuery(readyQuery);
  return ready.error instanceof OfflineError ? 'The server cannot be reached.' : undefined;
}

export const healthQuery = queryOptions({
  queryKey: ['health'],
  queryFn: () => get<Health>('/healthz'),
  staleTime: Number.POSITIVE_INFINITY,
});

export const enginesQuery = queryOptions({ queryKey: ['engines'], queryFn: () => get<Engines>('/v1/engines'), staleTime: SLOW_MS });

export const matrixQuery = queryOptions({ queryKey: ['matrix'], queryFn: () => get<Matrix>('/v1/matrix'), staleTime: 3_600_000 });

/** What each dialect calls each field, and the capability that it belongs to. */
export const fieldsQuery = queryOptions({ queryKey: ['fields'], queryFn: () => get<Fields>('/v1/matrix/fields'), staleTime: 3_600_000 });

export const keysQuery = queryOptions({
  queryKey: ['keys'],
  queryFn: () => get<Keys>('/v1/keys?limit=1000'),
  staleTime: 60_000,
  retry: false,
});

export interface Head {
  readonly sequence: number;
  readonly hash: string;
  readonly at?: string;
  readonly key_id?: string;
}

/** The line of one run: of one that a list does not reach, such as one that a colleague's link names. */
export const rowQuery = (run: string | undefined) =>
  queryOptions({
    queryKey: ['row', run],
    queryFn: async () => (await get<RunRowList>(withQuery('/v1/runs', { view: 'row', q: run, limit: 1 }))).items[0] ?? null,
    enabled: run !== undefined,
    retry: false,
  });

let hasHead = false;

export const headQuery = queryOptions({
  queryKey: ['head'],
  queryFn: async () => {
    // A server without receipts has no head; asking it would leave an error in the console of the browser.
    hasHead ||= (await get<RunRowList>('/v1/runs?view=row&limit=20')).items.some(({ sequence }) => sequence !== null);
    if (!hasHead) throw new Error('Nothing has been sealed yet.');
    return await get<Head>('/v1/receipts/head');
  },
  refetchInterval: SLOW_MS,
  retry: false,
});

interface SealKeys {
  readonly items: readonly { readonly id: string; readonly public_key: string; readonly retired_at?: string | null }[];
}

/** The public keys that sign the chain. */
export const sealKeysQuery = queryOptions({
  queryKey: ['seal-keys'],
  queryFn: () => get<SealKeys>('/v1/receipts/keys'),
  staleTime: 60_000,
});

export const usersQuery = queryOptions({
  queryKey: ['users'],
  queryFn: () => get<z.infer<typeof UserList>>('/v1/users'),
  staleTime: 60_000,
  retry: false,
});

export const budgetsQuery = queryOptions({
  queryKey: ['budgets'],
  queryFn: () => get<Budgets>('/v1/budgets'),
  refetchInterval: 30_000,
  retry: false,
});

export const settingsQuery = queryOptions({
  queryKey: ['settings'],
  queryFn: () => get<z.infer<typeof SettingsView>>('/v1/settings'),
  staleTime: 60_000,
  retry: false,
});

/** Agents by their ids, for lists that name them. */
export const agentNamesQuery = queryOptions({
  queryKey: ['agent-names'],
  queryFn: async () => new Map((await get<Agents>('/v1/agents?limit=1000')).items.map(({ id, name }) => [id, name])),
  staleTime: 60_000,
  retry: false,
});

export const adapterQuery = (agent: string) =>
  queryOptions({
    queryKey: ['adapter', agent],
    queryFn: () => get<z.infer<typeof AdapterDetail>>(`/v1/adapters/${agent}`),
    staleTime: 600_000,
    retry: false,
  });
