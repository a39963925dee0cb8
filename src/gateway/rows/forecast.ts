import { ownTurn } from '../../base/bounded/turns.ts';
import { type Json, parseJson } from '../../base/json.ts';
import { isLarge } from '../../calls/large-bodies/large-bodies.ts';
import { AbpError } from '../../contract/errors.ts';
import { type Engine, pricesOf } from '../../engines/engine.ts';
import { chooseEngine, unknownEngine } from '../../engines/index.ts';
import type { Explanation } from '../../mapping/explain.ts';
import type { BilledUsage } from '../../models/billed-usage.ts';
import type { Recording } from '../../store/recordings/recording.ts';
import { listRecordings, type RecordingFilter } from '../../store/recordings/recordings.ts';
import type { Forecast, ForecastQuery } from '../api/run-rows.ts';
import type { Gateway } from '../gateway.ts';
import { usageOf } from './usage.ts';

/** So many recorded requests are tried on each engine, found among so many of the newest. */
const MOST_TRIED = 20;
const MOST_LOOKED_AT = 200;
const MOST_LOSSES = 12;
/** Below every tier of every list: the price of so many tokens at once is that of the calls they belong to. */
const SHORT_TOKENS = 100_000;

type Own = Parameters<typeof usageOf>[2];
type Switch = Forecast['items'][number];
type Sum = Omit<Forecast, 'tried' | 'items'>;

/** A recorded request with what an explanation of it needs. */
interface Tried {
  readonly path: string;
  readonly request: Json;
}

export interface ForecastAsk {
  readonly query: ForecastQuery;
  readonly own: Own;
  /** Which recordings may be read; undefined: none. */
  readonly recordings: RecordingFilter | undefined;
}

/**
 * Reckons the cost that calls of the past would have had on other engines, and maps recorded ones there to find what would be lost. No
 * engine is called.
 */
export async function forecast(gateway: Gateway, { query, own, recordings }: ForecastAsk): Promise<Forecast> {
  const { to, ...chosen } = query;
  const targets = to.map(targetOf);
  const usage = await usageOf(gateway.store, { ...chosen, metric: ['cost', 'tokens', 'runs'], bucket: 'none', group_by: ['model'] }, own);
  const parts = usage.groups.map(sumOf);
  const tried = recordings === undefined ? null : await recordedRequests(gateway, query, recordings);
  const items: Switch[] = [];
  for (const target of targets) {
    const cost = async (cached: boolean): Promise<number | null> => await costOn(target, parts, cached);
    items.push({
      ...{ engine: target.name, model: target.model },
      cost_nano_usd: await cost(true),
      uncached_nano_usd: await cost(false),
      ...(await tryOn(gateway, target, tried ?? [])),
    });
  }
  return { ...added(parts), tried: tried?.length ?? null, items };
}

interface Target {
  /** The engine as it was asked for, with its dialect where one was named. */
  readonly name: string;
  readonly engine: Engine;
  readonly model: string;
}

function targetOf(text: string): Target {
  const at = text.indexOf('/');
  const [name, model] = [text.slice(0, at), text.slice(at + 1)];
  const engine = chooseEngine(name)?.engine;
  if (engine === undefined) throw unknownEngine(name);
  return { name, engine, model };
}

function sumOf(group: Awaited<ReturnType<typeof usageOf>>['groups'][number]): Sum {
  const first = (series: readonly number[] | undefined): number => series?.[0] ?? 0;
  return {
    calls: first(group.runs),
    tokens_in: first(group.tokens_in),
    tokens_out: first(group.tokens_out),
    cache_read: first(group.cache_read),
    cost_nano_usd: first(group.cost_nano_usd),
    unpriced: first(group.unpriced),
  };
}

function added(parts: readonly Sum[]): Sum {
  const none: Sum = { calls: 0, tokens_in: 0, tokens_out: 0, cache_read: 0, cost_nano_usd: 0, unpriced: 0 };
  return parts.reduce(
    (sum, part) => ({
      calls: sum.calls + part.calls,
      tokens_in: sum.tokens_in + part.tokens_in,
      tokens_out: sum.tokens_out + part.tokens_out,
      cache_read: sum.cache_read + part.cache_read,
      cost_nano_usd: sum.cost_nano_usd + part.cost_nano_usd,
      unpriced: sum.unpriced + part.unpriced,
    }),
    none,
  );
}

/** The cost of the same tokens elsewhere. The average call decides the tier of the list, since the sums do not know single calls. */
async function costOn({ engine, model }: Target, parts: readonly Sum[], cached: boolean): Promise<number | null> {
  const prices = pricesOf(engine, model);
  if (prices === undefined) return null;
  const { costOf } = await import('../../models/cost.ts');
  let total = 0;
  for (const { calls, tokens_in, tokens_out, cache_read } of parts) {
    if (calls === 0) continue;
    const share = Math.min(1, Math.max(1 / calls, SHORT_TOKENS / Math.max(1, tokens_in)));
    const usage: BilledUsage = {
      inputTokens: Math.round(tokens_in * share),
      outputTokens: Math.round(tokens_out * share),
      cacheReadTokens: cached ? Math.round(cache_read * share) : 0,
      cacheWriteTokens: 0,
      webSearchRequests: 0,
    };
    const cost = costOf(usage, model, prices, new Date());
    if (cost === undefined) return null;
    total += cost / share;
  }
  return Math.round(total);
}

/** Requests that were recorded in the time, newest first; long ones are left out, because each is translated for every engine. */
async function recordedRequests(gateway: Gateway, { model, since, until }: ForecastQuery, filter: RecordingFilter): Promise<Tried[]> {
  const { items } = await listRecordings(gateway.store, { ...filter, limit: MOST_LOOKED_AT });
  const fits = (one: Recording): boolean =>
    (model === undefined || one.model === model) &&
    one.startedAt >= (since ?? 0) &&
    one.startedAt < (until ?? Number.POSITIVE_INFINITY) &&
    one.request.dialect !== null &&
    !one.redacted;
  const tried: Tried[] = [];
  for (const { request } of items.filter(fits)) {
    if (tried.length >= MOST_TRIED) break;
    if (isLarge(request.body.bytes, 0)) continue;
    const bytes = await gateway.shelf.read(request.body);
    const parsed = bytes === undefined ? undefined : parseJson(bytes.toString('utf8'));
    if (parsed?.ok === true) tried.push({ path: request.path, request: parsed.value });
    await ownTurn();
  }
  return tried;
}

async function tryOn(
  gateway: Gateway,
  { name, model }: Target,
  tried: readonly Tried[],
): Promise<Pick<Switch, 'refused' | 'mapped' | 'losses'>> {
  const { explain } = await import('../../mapping/explain.ts');
  const losses = new Map<string, Switch['losses'][number]>();
  let [refused, mapped] = [0, 0];
  for (const one of tried) {
    const explained = explainedOr(() => explain({ ...one, to: name, model, table: gateway.routes.rows, places: false }));
    if (explained === undefined || explained.error !== undefined) refused += 1;
    else if (explained.mode === 'mapped') mapped += 1;
    countLosses(losses, explained?.fidelity ?? []);
    await ownTurn();
  }
  return { refused, mapped, losses: [...losses.values()].sort((a, b) => b.calls - a.calls).slice(0, MOST_LOSSES) };
}

function countLosses(losses: Map<string, Switch['losses'][number]>, entries: Explanation['fidelity']): void {
  for (const { path, fate, note } of entries) {
    if (fate === 'exact' || fate === 'renamed') continue;
    const key = `${fate} ${path}`;
    losses.set(key, { path, fate, ...(note === undefined ? {} : { note }), calls: (losses.get(key)?.calls ?? 0) + 1 });
  }
}

/** A request that cannot even be read for that engine counts as refused. */
function explainedOr(explain: () => Explanation): Explanation | undefined {
  try {
    return explain();
  } catch (error) {
    if (AbpError.is(error)) return undefined;
    throw error;
  }
}
