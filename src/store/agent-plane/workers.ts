import { sql } from 'kysely';
import type { PostgresStore } from '../store.ts';

/** The database's own clock: those of the machines may differ. */
const NOW = sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`;
/** Rows of workers that ended without saying so are kept this long, for operators who look for them. */
const FORGET_MS = 24 * 60 * 60 * 1000;

/** An unfinished turn that nobody works on. */
export interface OrphanedTurn {
  readonly id: string;
  readonly epoch: number;
}

/** Says that the worker lives. */
export async function beat(store: PostgresStore, worker: string): Promise<void> {
  await sql`insert into workers (id, started_at, heartbeat_at) values (${worker}, ${NOW}, ${NOW})
    on conflict (id) do update set heartbeat_at = excluded.heartbeat_at`.execute(store.db);
}

export async function forgetWorker(store: PostgresStore, worker: string): Promise<void> {
  await sql`delete from workers where id = ${worker} or heartbeat_at < ${NOW} - ${FORGET_MS}::bigint`.execute(store.db);
}

/** Turns without an owner, and those whose owner has been silent for so long; oldest first. */
export async function orphanedTurns(store: PostgresStore, silentMs: number, limit: number): Promise<readonly OrphanedTurn[]> {
  const { rows } = await sql<OrphanedTurn>`
    select turns.id, turns.epoch from turns left join workers on workers.id = turns.owner
    where turns.ended_at is null and turns.status in ('queued', 'running')
      and (workers.id is null or workers.heartbeat_at < ${NOW} - ${silentMs}::bigint)
    order by turns.updated_at, turns.id limit ${limit}`.execute(store.db);
  return rows;
}
