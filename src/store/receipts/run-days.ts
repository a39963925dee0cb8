import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Store } from '../store.ts';

const DAY_MS = 24 * 3600 * 1000;

/**
 * The parts of PostgreSQL's table of receipts hold days. The day of a row is that of the time its run id begins with, so that every
 * writer of a run finds the same row; stubs, and rows of before the table was divided, are of no day.
 */
export const NO_DAY = 0;

/** Days since the epoch, in UTC. */
export function dayAt(time: number): number {
  return Math.floor(time / DAY_MS);
}

export function timeOfDay(day: number): number {
  return day * DAY_MS;
}

/** The day that a run belongs to. */
export function dayOfRun(runKey: string): number {
  const digits = /^[0-9a-f]{12}/.exec(runKey)?.[0];
  return digits === undefined ? NO_DAY : dayAt(Number.parseInt(digits, 16));
}

/** Rows of runs are in the parts of these days alone: PostgreSQL looks into no other. SQLite has one table. */
export function onDaysOf({ kind }: Pick<Store, 'kind'>, runKeys: readonly string[]): RawBuilder<SqlBool> {
  if (kind === 'sqlite') return sql<SqlBool>`1 = 1`;
  const days = [...new Set([NO_DAY, ...runKeys.map(dayOfRun)])];
  return sql<SqlBool>`day in (${sql.join(days.map((day) => sql.lit(day)))})`;
}

/** Puts rows of runs under way on their days, where they came without: the end of such a run is written to its day. */
export async function dateUnfinished({ db }: Pick<Store, 'db'>): Promise<void> {
  await sql`update receipts set day = ('x' || left(run_id, 12))::bit(48)::bigint / ${sql.lit(DAY_MS)}
    where completed_at is null and day = ${sql.lit(NO_DAY)} and run_id ~ '^[0-9a-f]{12}'`.execute(db);
}
