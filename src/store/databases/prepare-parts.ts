import type pg from 'pg';

/** Below so many rows the step of the schema does all of this in a moment. */
const LARGE = 20_000;
/** One process prepares at a time. Those who wait must not wait inside of a statement: the building of an index would wait for them. */
const TURN = 7_043_119;
const PAUSE_MS = 500;

/** The table before it was divided, and its size by the last count of PostgreSQL. */
const UNDIVIDED = `select greatest(reltuples, relpages) as size from pg_class
  where oid = to_regclass('receipts') and relkind = 'r' and not relispartition`;

const BROKEN_INDEX = "select 1 from pg_index where indexrelid = to_regclass('receipts_kept_pkey') and not indisvalid";

/** Each may be repeated, and none keeps others from reading and writing for longer than a moment. */
const STEPS = [
  'alter table receipts add column if not exists day integer not null default 0',
  'create unique index concurrently if not exists receipts_kept_pkey on receipts (run_id, day)',
  'alter table receipts drop constraint if exists receipts_kept_no_day',
  'alter table receipts add constraint receipts_kept_no_day check (day >= 0 and day < 1) not valid',
  'alter table receipts validate constraint receipts_kept_no_day',
];

/**
 * Prepares a large table of receipts for the step that divides it (`0018-parts`): afterwards the step moves no row and reads none, while
 * nodes of the version before went on writing.
 */
export async function prepareParts(pool: Pick<pg.Pool, 'connect'>, from = LARGE): Promise<void> {
  const client = await pool.connect();
  try {
    const isLarge = async (): Promise<boolean> => Number((await client.query<{ size: number }>(UNDIVIDED)).rows[0]?.size ?? 0) >= from;
    if (!(await isLarge())) return;
    const lock = async (): Promise<boolean> =>
      (await client.query<{ mine: boolean }>('select pg_try_advisory_lock($1) as mine', [TURN])).rows[0]?.mine === true;
    while (!(await lock())) await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    try {
      // Another process may have been here.
      if (!(await isLarge())) return;
      if ((await client.query(BROKEN_INDEX)).rowCount !== 0) await client.query('drop index receipts_kept_pkey');
      for (const step of STEPS) await client.query(step);
    } finally {
      await client.query('select pg_advisory_unlock($1)', [TURN]);
    }
  } finally {
    client.release();
  }
}
