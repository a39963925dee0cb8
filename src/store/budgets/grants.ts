import { sql, type Transaction } from 'kysely';
import type { Tables } from '../schema.ts';
import type { PostgresStore } from '../store.ts';
import type { BudgetGrantsTable } from './budget-schema.ts';

export type GrantAmounts = Pick<BudgetGrantsTable, 'nano_usd' | 'tokens' | 'requests'>;

/** The grants of one budget in one period. */
export interface GrantPlace {
  readonly budget: string;
  readonly windowStart: number;
}

/** The part of a budget that a node may use, and whether it may let one call in that may use more than is left. */
export interface Grant extends GrantAmounts {
  readonly node: string;
  readonly last_call: number;
}

/** A node that keeps receipts in this database. */
export interface NodeState {
  readonly node: string;
  readonly chain: number;
  /** It said within the last half minute that it lives. */
  readonly live: boolean;
  /** It has been silent for so long that it no longer uses what it was granted. */
  readonly lost: boolean;
}

/** The database's own clock: those of the machines may differ. */
const NOW = sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`;
const LIVE_MS = 30_000;

export async function nodeStates(store: PostgresStore, lostMs: number): Promise<NodeState[]> {
  const { rows } = await sql<NodeState>`
    select chains.node, chains.number as chain,
      coalesce(workers.heartbeat_at > ${NOW} - ${LIVE_MS}::bigint, false) as live,
      coalesce(workers.heartbeat_at < ${NOW} - ${lostMs}::bigint, true) as lost
    from chains left join workers on workers.id = chains.node`.execute(store.db);
  return rows;
}

export async function listGrants(store: PostgresStore, place: GrantPlace): Promise<Grant[]> {
  return await grantsOf(store.db, place);
}

async function grantsOf(db: Pick<Transaction<Tables>, 'selectFrom'>, { budget, windowStart }: GrantPlace): Promise<Grant[]> {
  return await db
    .selectFrom('budget_grants')
    .select(['node', 'nano_usd', 'tokens', 'requests', 'last_call'])
    .where('budget', '=', budget)
    .where('window_start', '=', windowStart)
    .execute();
}

/** A node asks for its part. */
export interface GrantAsk {
  readonly place: GrantPlace;
  readonly node: string;
  /** Nodes that were granted nothing and have spent something, or that no longer use what they were granted: they keep what they have spent. */
  readonly spent: readonly (GrantAmounts & { readonly node: string })[];
  /** Decides the part of this node, knowing those of the others. */
  readonly decide: (others: readonly Grant[], mine: Grant | undefined) => GrantAmounts;
}

/** Changes the part of a node. Nodes that ask at once take turns, so that all parts together never exceed what the deciders meant. */
export async function changeGrant(store: PostgresStore, { place, node, spent, decide }: GrantAsk): Promise<Grant> {
  return await store.db.transaction().execute(async (db) => {
    await sql`select pg_advisory_xact_lock(hashtextextended(${place.budget}, 0))`.execute(db);
    for (const one of spent) await put(db, place, { ...one, last_call: 0 });
    const rows = await grantsOf(db, place);
    const others = rows.filter((row) => row.node !== node);
    const amounts = decide(
      others,
      rows.find((row) => row.node === node),
    );
    const last_call = others.every((row) => row.last_call === 0) ? 1 : 0;
    const granted = { node, last_call, ...amounts };
    await put(db, place, granted);
    return granted;
  });
}

async function put(db: Transaction<Tables>, { budget, windowStart }: GrantPlace, grant: Grant): Promise<void> {
  await db
    .insertInto('budget_grants')
    .values({ budget, window_start: windowStart, ...grant })
    .onConflict((conflict) =>
      conflict.columns(['budget', 'window_start', 'node']).doUpdateSet((eb) => ({
        nano_usd: eb.ref('excluded.nano_usd'),
        tokens: eb.ref('excluded.tokens'),
        requests: eb.ref('excluded.requests'),
        last_call: eb.ref('excluded.last_call'),
      })),
    )
    .execute();
}

/** A node that stops keeps what it has spent, and leaves the right to the last call to others. */
export async function leaveGrant(store: PostgresStore, place: GrantPlace, left: Omit<Grant, 'last_call'>): Promise<void> {
  await store.db.transaction().execute((db) => put(db, place, { ...left, last_call: 0 }));
}

/** Removes grants of periods that began before a time; those of budgets in all have no beginning. */
export async function forgetGrants(store: PostgresStore, before: number): Promise<void> {
  await store.db.deleteFrom('budget_grants').where('window_start', '>', 0).where('window_start', '<', before).execute();
}
