import { sql } from 'kysely';
import type { PostgresStore } from '../store.ts';
import type { LimitUsesTable } from './budget-schema.ts';

export type LimitUse = Omit<LimitUsesTable, 'told_at' | 'node'>;

/** The use of limits that other nodes told lately, and the time by the clock of the database, because the nodes' own clocks differ. */
export interface UsesElsewhere {
  readonly now: number;
  readonly uses: readonly Omit<LimitUsesTable, 'told_at'>[];
}

/** The database's own clock: those of the machines may differ. */
const NOW = sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`;

/** The uses that are heard of at a time; those that were told last count. */
const MOST_HEARD = 20_000;

/** Tells what this node uses, and hears what the others do. What is older than `freshMs` counts no longer. */
export async function tellUses({ db }: PostgresStore, node: string, own: readonly LimitUse[], freshMs: number): Promise<UsesElsewhere> {
  const names = own.map(({ limited }) => limited);
  const [demands, calls] = [own.map(({ demand }) => demand), own.map(({ under_way }) => under_way)];
  if (own.length > 0)
    await sql`insert into limit_uses (limited, node, demand, under_way, told_at)
    select limited, ${node}, demand, under_way, ${NOW}
    from unnest(${names}::text[], ${demands}::bigint[], ${calls}::bigint[]) as told (limited, demand, under_way)
    on conflict (limited, node) do update
    set demand = excluded.demand, under_way = excluded.under_way, told_at = excluded.told_at`.execute(db);
  const { rows } = await sql<{ limited: string; node: string; demand: number; under_way: number }>`
    select limited, node, demand, under_way from limit_uses
    where node <> ${node} and told_at > ${NOW} - ${freshMs}::bigint and demand + under_way > 0
    order by told_at desc limit ${MOST_HEARD}`.execute(db);
  const { rows: clock } = await sql<{ now: number }>`select ${NOW} as now`.execute(db);
  return { now: clock[0]?.now ?? 0, uses: rows };
}

/** Forgets what this node has said, and what nobody has said for long. */
export async function forgetUses({ db }: PostgresStore, node: string, olderThanMs: number): Promise<void> {
  await sql`delete from limit_uses where node = ${node} and told_at < ${NOW} - ${olderThanMs}::bigint
    or told_at < ${NOW} - ${olderThanMs + 600_000}::bigint`.execute(db);
}
