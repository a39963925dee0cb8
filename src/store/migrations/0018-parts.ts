import { type Kysely, SqliteAdapter, sql } from 'kysely';

/**
 * PostgreSQL keeps receipts and sums of usage in parts by time, so that what retention leaves empty is dropped as a whole. The tables of
 * before become parts as they are; `prepareParts` has done beforehand what takes long on large ones.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  if (db.getExecutor().adapter instanceof SqliteAdapter) return;
  for (const statement of [...RECEIPTS, ...usage(Date.now())]) await sql.raw(statement).execute(db);
}

/** The day of a run, in the time that its id begins with. Day 0 is that of rows without one. */
const DAY = `('x' || left(run_id, 12))::bit(48)::bigint / 86400000`;

const RECEIPTS = [
  'alter table receipts rename to receipts_kept',
  ...['started', 'key', 'unfinished', 'sealed'].map((index) => `alter index receipts_${index} rename to receipts_kept_${index}`),
  'alter table receipts_kept add column if not exists day integer not null default 0',
  'alter table receipts_kept drop constraint receipts_pkey',
  'create unique index if not exists receipts_kept_pkey on receipts_kept (run_id, day)',
  'alter table receipts_kept add primary key using index receipts_kept_pkey',
  'create table receipts (like receipts_kept including defaults) partition by range (day)',
  'alter table receipts add primary key (run_id, day)',
  'create index receipts_started on receipts (started_at, run_id)',
  'create index receipts_key on receipts (key_id, started_at, run_id) where key_id is not null',
  'create index receipts_unfinished on receipts (started_at, run_id) where completed_at is null',
  'alter table receipts attach partition receipts_kept for values from (0) to (1)',
  'alter table receipts_kept drop constraint if exists receipts_kept_no_day',
  // For days that nobody made a part for, such as those of a node that was away for long.
  'create table receipts_rest partition of receipts default',
  'create unique index receipts_rest_sealed on receipts_rest (chain, sequence) where sequence is not null',
  // Runs under way are written again when they end, by the day of their id.
  `update receipts set day = ${DAY} where completed_at is null and run_id ~ '^[0-9a-f]{12}'`,
];

/** Sums of the running month and before stay where they are. */
function usage(now: number): string[] {
  const date = new Date(now);
  const next = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1);
  return [
    'alter table usage_rollups rename to usage_rollups_before',
    'alter table usage_rollups_before rename constraint usage_rollups_key to usage_rollups_before_key',
    'create table usage_rollups (like usage_rollups_before including defaults) partition by range (start)',
    'alter table usage_rollups add constraint usage_rollups_key primary key (span, start, chain, facets)',
    'create table usage_rollups_rest partition of usage_rollups default',
    // A clock that was wrong may have left sums of a time to come.
    `with later as (delete from usage_rollups_before where start >= ${next} returning *) insert into usage_rollups select * from later`,
    `alter table usage_rollups attach partition usage_rollups_before for values from (minvalue) to (${next})`,
  ];
}
