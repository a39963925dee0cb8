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
  /** Only those that this chain has receipts of. */
  readonly chain?: number | undefined;
  /** Errors of calls that were never sent. */
  readonly unsent: readonly string[];
}

/** The sums of calls. */
export interface SpentSums {
  readonly nano_usd: number;
  readonly tokens: number;
  readonly requests: number;
  readonly unpriced: number;
}

/** No key has this id. */
const NOBODY = 'nobody';

type Condition = ExpressionWrapper<Tables, 'usage_rollups', SqlBool>;

/** Adds up what the sums of usage know of the calls of a period, which is an hour or made of whole days. */
export async function sumSpent(store: Store, { on, since, until, chain, unsent }: SpentChoice): Promise<SpentSums> {
  const end = Math.min(until, Number.MAX_SAFE_INTEGER);
  const firstDay = Math.min(end, Math.ceil(since / DAY_MS) * DAY_MS);
  const row = await store.db
    .selectFrom('usage_rollups')
    .select([
      sql<number | string | null>`sum(cost_nano_usd)`.as('nano_usd'),
      sql<number | string | null>`sum(tokens_in + tokens_out)`.as('tokens'),
      sql<number | string | null>`sum(unpriced)`.as('unpriced'),
    ])
    .select((eb) =>
      eb.fn.sum<number | string | null>(eb.case().when('error', 'in', unsent).then(0).else(eb.ref('calls')).end()).as('requests'),
    )
    .where((eb) =>
      eb.or([
        eb.and([eb('span', '=', 'h'), eb('start', '>=', since), eb('start', '<', firstDay)]),
        eb.and([eb('span', '=', 'd'), eb('start', '>=', firstDay), eb('start', '<', end)]),
      ]),
    )
    .$if(chain !== undefined, (query) => query.where('chain', '=', chain ?? 0))
    .where((eb) => eb.and(conditions(store, on, eb)))
    .executeTakeFirstOrThrow();
  // PostgreSQL tells sums as text; without a row a sum is null.
  const number = (value: number | string | null): number => Number(value ?? 0);
  return { nano_usd: number(row.nano_usd), tokens: number(row.tokens), requests: number(row.requests), unpriced: number(row.unpriced) };
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
