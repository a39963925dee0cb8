import { queryOptions } from '@tanstack/react-query';
import type { z } from 'zod';
import type { AdapterList, AuthView, DetectionView } from '../../../../src/gateway/api/adapters.ts';
import type { RunCheck } from '../../../../src/gateway/api/runs.ts';
import { get, send } from '../../api/client.ts';
import type { RunRowList } from '../../api/types.ts';

export type Adapters = z.infer<typeof AdapterList>;
export type Detection = z.infer<typeof DetectionView>;
export type Auth = z.infer<typeof AuthView>;
export type Check = z.infer<typeof RunCheck>;

export const adaptersQuery = queryOptions({
  queryKey: ['adapters'],
  queryFn: () => get<Adapters>('/v1/adapters'),
  staleTime: 600_000,
});

export const detectQuery = (agent: string) =>
  queryOptions({
    queryKey: ['detect', agent],
    queryFn: () => get<Detection>(`/v1/adapters/${agent}/detect`),
    staleTime: 600_000,
    retry: false,
  });

/** Whether the agent has a login of its own on the machine of the server. */
export const authQuery = (agent: string) =>
  queryOptions({
    queryKey: ['auth', agent],
    queryFn: () => get<Auth>(`/v1/adapters/${agent}/auth`),
    staleTime: 600_000,
    retry: false,
  });

export const runningQuery = queryOptions({
  queryKey: ['running'],
  queryFn: () => get<RunRowList>('/v1/runs?view=row&plane=run&limit=30'),
  refetchInterval: 2000,
});

export interface Wanted {
  readonly agent: string;
  readonly prompt: string;
  readonly engine: string;
  readonly model: string;
  readonly thinking: string;
  readonly approval: string;
  readonly budget: string;
  readonly cwd: string;
  /** A conversation that goes on; empty for a new one. */
  readonly session: string;
}

/** The options of a run as the API takes them; what is empty is left to the agent. */
function optionsOf(wanted: Wanted): Record<string, unknown> {
  const set = <T>(name: string, value: T | ''): Record<string, T> => (value === '' ? {} : { [name]: value });
  return {
    agent: wanted.agent,
    prompt: wanted.prompt === '' ? 'hello' : wanted.prompt,
    approvalMode: wanted.approval,
    ...set('engine', wanted.engine),
    ...set('model', wanted.model),
    ...set('thinkingEffort', wanted.thinking),
    ...set('cwd', wanted.cwd),
    ...set('sessionId', wanted.session),
    ...(wanted.budget === '' ? {} : { maxBudgetUsd: Number(wanted.budget), enforcement: 'advisory' }),
  };
}

export const checkQuery = (wanted: Wanted, may: boolean) =>
  queryOptions({
    queryKey: ['check', wanted],
    queryFn: () => send<Check>('POST', '/v1/runs/check', optionsOf(wanted)),
    enabled: may && wanted.agent !== '',
    retry: false,
  });

export async function startRun(wanted: Wanted): Promise<string> {
  const { run_id } = await send<{ run_id: string }>('POST', '/v1/runs', optionsOf(wanted));
  return run_id;
}
