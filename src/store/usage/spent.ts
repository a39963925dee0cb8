import { type ExpressionBuilder, type ExpressionWrapper, type SqlBool, sql } from 'kysely';
import type { Tables } from '../schema.ts';
import type { Store } from '../store.ts';
import { hasTag } from '../tags.ts';
import { storableText } from '../text.ts';
import { DAY_MS } from './rollups.ts';

/** On whose behalf something was spent. Every given condition but the last two must hold, of those one. */
export interface SpentOn {
  readonly engine?: string;
  /** Ids of keys; an empty text for callers without one. */
  readonly keys?: readonly string[];
  readonly tag?: string;
  /** A coding agent, or an agent whose turns carry this tag. */
  readonly agent?: { readonly id: string; readonly tag: string };
}

/** Calls that began in a period. */
export interface SpentChoice {
  readonly on: SpentOn;
  readonly since: number;
  /** Infinity where the period has no end. A clock that was set back leaves calls of times that are yet to come. */
  readonly until: number;
  /** Errors of calls whose last try was never sent. */
  readonly unsent: readonly string[];
}

/** The sums of calls. */
export interface SpentSums {
  readonly nano_usd: number;
  readonly tokens: number;
  readonly requests: number;
  readonly unpriced: number;
}

/** What the calls of a node come to: of the chain that has its receipts. */
export interface SpentOfChain {
  readonly chain: number;
  /** By its receipts, and by the late ends that it wrote of calls whose receipts are in other chains. */
  readonly told: SpentSums;
  /** What late ends have taken out of that again: estimates in receipts that it sealed for a node which came back. */
  readonly taken: SpentSums;
}

/** No key has this id. */
const NOBODY = 'nobody';

type Condition = ExpressionWrapper<Tables, 'usage_rollups', SqlBool>;

/** Rows that take out what receipts say have counts below zero. */
const IS_TAKEN = sql<number>`case when calls < 0 then 1 else 0 end`;

/** Adds up what the sums of usage know of the calls of a period, which is an hour or made of whole days. */
export async function sumSpent(store: Store, { on, since, until, unsent }: SpentChoice): Promise<SpentOfChain[]> {
  const end = Math.min(until, Number.MAX_SAFE_INTEGER);
  // An hour that begins at midnight is no day.
  const firstDay = end - since < DAY_MS ? end : Math.min(end, Math.ceil(since / DAY_MS) * DAY_MS);
  const rows = await store.db
    .selectFrom('usage_rollups')
    .select(['chain', 'late_of', IS_TAKEN.as('is_taken')])
    .select([
      sql<number | string>`sum(cost_nano_usd)`.as('nano_usd'),
      sql<number | string>`sum(tokens_in + tokens_out)`.as('tokens'),
      sql<number | string>`sum(unpriced)`.as('unpriced'),
    ])
    .select((eb) =>
      eb.fn.sum<number | string>(eb.case().when('error', 'in', unsent).then(eb.ref('reached')).else(eb.ref('calls')).end()).as('requests'),
    )
    .where((eb) =>
      eb.or([
        eb.and([eb('span', '=', 'h'), eb('start', '>=', since), eb('start', '<', firstDay)]),
        eb.and([eb('span', '=', 'd'), eb('start', '>=', firstDay), eb('start', '<', end)]),
      ]),
    )
    .where((eb) => eb.and(conditions(store, on, eb)))
    .groupBy(['chain', 'late_of', IS_TAKEN])
    .execute();
  const chains = new Map<number, SpentOfChain>();
  for (const { chain, late_of, is_taken, nano_usd, tokens, requests, unpriced } of rows) {
    // PostgreSQL tells sums as text.
    const sums = { nano_usd: Number(nano_usd), tokens: Number(tokens), requests: Number(requests), unpriced: Number(unpriced) };
    const of = is_taken === 1 ? late_of : chain;
    const { told, taken } = chains.get(of) ?? { told: NOTHING, taken: NOTHING };
    chains.set(of, {
      chain: of,
      told: is_taken === 1 ? told : addSpent(told, sums),
      taken: is_taken === 1 ? addSpent(taken, sums, -1) : taken,
    });
  }
  return [...chains.values()];
}

export const NOTHING: SpentSums = { nano_usd: 0, tokens: 0, requests: 0, unpriced: 0 };

/** One sum with another one added, or taken away. */
export function addSpent(one: SpentSums, other: SpentSums, sign: 1 | -1 = 1): SpentSums {
  return {
    nano_usd: one.nano_usd + sign * other.nano_usd,
    tokens: one.tokens + sign * other.tokens,
    requests: one.requests + sign * other.requests,
    unpriced: one.unpriced + sign * other.unpriced,
  };
}

function conditions(store: Store, { engine, keys, tag, agent }: SpentOn, eb: ExpressionBuilder<Tables, 'usage_rollups'>): Condition[] {
  const tagged = (name: string): Condition => eb.and([hasTag(store, name)]);
  return [
    ...(engine === undefined ? [] : [eb('engine', '=', storableText(engine))]),
    // A user without keys has spent nothing; no list may be empty.
    ...(keys === undefined ? [] : [eb('key_id', 'in', keys.length === 0 ? [NOBODY] : keys.map(storableText))]),
    ...(tag === undefined ? [] : [tagged(tag)]),
    ...(agent === undefined ? [] : [eb.or([eb('agent', '=', storableText(agent.id)), tagged(agent.tag)])]),
  ];
}
