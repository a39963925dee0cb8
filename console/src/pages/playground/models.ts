import { queryOptions, useQuery } from '@tanstack/react-query';
import { get, withQuery } from '../../api/client.ts';
import type { Usage } from '../../api/types.ts';
import type { Asked } from './data.ts';

/** An engine with the model that it would be asked for. */
export interface Target {
  readonly to: string;
  readonly model: string;
  /** Whether that is a model which the engine is known to serve here. */
  readonly own: boolean;
}

const LOOKED_BACK_MS = 30 * 24 * 3600 * 1000;

/** Models that engines have answered with, by engine, the most called first. */
const calledQuery = queryOptions({
  queryKey: ['models-called'],
  queryFn: async () => {
    const since = new Date(Date.now() - LOOKED_BACK_MS).toISOString();
    const { groups } = await get<Usage>(withQuery('/v1/usage', { metric: 'runs', group_by: 'engine,model', status: 'completed', since }));
    const sorted = groups.toSorted((one, other) => (other.runs?.[0] ?? 0) - (one.runs?.[0] ?? 0));
    const pairs = sorted.flatMap(({ key: { engine, model } }) => (engine && model ? [{ engine, model }] : []));
    return Map.groupBy(pairs, ({ engine }) => engine);
  },
  staleTime: 300_000,
  retry: false,
});

/** Models that the reader has left engines with in this visit. */
const chosen = new Map<string, string>();

export function keepModel(to: string, model: string): void {
  if (model !== '') chosen.set(engineOf(to), model);
}

const engineOf = (to: string): string => to.split(':')[0] ?? to;

/**
 * Which model an engine is asked for when a request goes there that names another one: what the reader chose for it, else what it has
 * answered with most. Nobody guesses a name out of a price list. `sim` takes any name.
 */
export function useOwnModel(): (to: string, model: string) => Target {
  const called = useQuery(calledQuery).data;
  return (to, model) => {
    const engine = engineOf(to);
    const known = (called?.get(engine) ?? []).map((pair) => pair.model);
    if (engine === 'sim' || known.includes(model)) return { to, model, own: true };
    const found = chosen.get(engine) ?? known[0];
    return { to, model: found ?? model, own: found !== undefined };
  };
}

/** The question with another model, as it would be written for it. */
export function withModel(asked: Asked, model: string): Asked {
  if (asked.from === 'gemini') return { ...asked, model };
  return { ...asked, request: named(asked.request, model) };
}

/** A request that names another model; one that names none stays as it is. */
export function named(request: unknown, model: string): unknown {
  const members = Object(request);
  return typeof members.model === 'string' ? { ...members, model } : request;
}
