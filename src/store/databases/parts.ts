import { sql, type Transaction } from 'kysely';
import type { Tables } from '../schema.ts';
import type { PostgresStore } from '../store.ts';

/** Tables that PostgreSQL keeps in parts by time. SQLite has each as a whole. */
export type DividedTable = 'receipts' | 'usage_rollups';

/** A part of a table: what it holds begins at one number and ends before the other. */
export interface Part {
  readonly name: string;
  readonly from: number;
  readonly to: number;
}

/** How long a change of parts waits for those who use the table, who wait behind it meanwhile. */
const LOCK_MS = 1000;
/** Looking through a part takes at most this long. */
const LOOK_MS = 10_000;
/** One process at a time changes parts. */
const TURN = 7_043_118;

/** Codes of PostgreSQL for a lock that was not to be had, a statement that took too long, and two that wait for each other. */
const BUSY = ['55P03', '57014', '40P01'];

/** The parts of a table that hold a range, oldest first; not the part for the rest. */
export async function listParts({ db }: PostgresStore, table: DividedTable): Promise<readonly Part[]> {
  const { rows } = await sql<{ name: string; bounds: string }>`
    select part.relname as name, pg_get_expr(part.relpartbound, part.oid) as bounds
    from pg_inherits join pg_class part on part.oid = inhrelid where inhparent = to_regclass(${table})`.execute(db);
  return rows
    .flatMap(({ name, bounds }) => {
      const [, from, to] = /FROM \('?(\d+|MINVALUE)'?\) TO \('?(\d+)'?\)/.exec(bounds) ?? [];
      if (from === undefined || to === undefined) return [];
      return [{ name, from: from === 'MINVALUE' ? Number.NEGATIVE_INFINITY : Number(from), to: Number(to) }];
    })
    .sort((one, other) => one.from - other.from);
}

/** The column that a row's part goes by, and an index of every part that the table as a whole cannot have. */
const DIVISIONS: Readonly<Record<DividedTable, { readonly by: string; readonly unique?: string }>> = {
  receipts: { by: 'day', unique: '(chain, sequence) where sequence is not null' },
  usage_rollups: { by: 'start' },
};

/**
 * Adds a part; what the part for the rest has for it moves there. Nobody who reads or writes waits for that but those who write to the
 * part for the rest, for a moment. False where others use the table for long: then is later.
 */
export async function addPart(store: PostgresStore, table: DividedTable, { name, from, to }: Part): Promise<boolean> {
  const { by, unique } = DIVISIONS[table];
  const steps = [
    `create table ${name} (like ${table} including defaults)`,
    `lock table only ${table}_rest in share row exclusive mode`,
    `with moved as (delete from ${table}_rest where ${by} >= ${from} and ${by} < ${to} returning *) insert into ${name} select * from moved`,
    ...(unique === undefined ? [] : [`create unique index ${name}_sealed on ${name} ${unique}`]),
    `alter table ${table} attach partition ${name} for values from (${from}) to (${to})`,
  ];
  return await inTurn(store, async (db) => {
    if ((await listParts({ ...store, db }, table)).some((other) => other.from < to && from < other.to)) return true;
    for (const step of steps) await sql.raw(step).execute(db);
    return true;
  });
}

/** Does the work while no other process changes parts. False where others use the table for long. */
async function inTurn(store: PostgresStore, work: (db: Transaction<Tables>) => Promise<boolean>): Promise<boolean> {
  try {
    return await store.db.transaction().execute(async (db) => {
      await sql.raw(`set local lock_timeout = ${LOCK_MS}; set local statement_timeout = ${LOOK_MS}`).execute(db);
      await sql`select pg_advisory_xact_lock(${TURN})`.execute(db);
      return await work(db);
    });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (BUSY.some((one) => one === code)) return false;
    throw error;
  }
}

/**
 * Drops a part that holds nothing any more: its file goes as a whole. Those who write to it wait while it is looked through, those who
 * use the table wait for a moment. False where something is in it, or others use the table for long.
 */
export async function dropEmptyPart(store: PostgresStore, table: DividedTable, { name }: Part): Promise<boolean> {
  const holds = async (db: PostgresStore['db']): Promise<boolean> => {
    const { rows } = await sql<{ some: boolean }>`select exists (select 1 from ${sql.id(name)}) as some`.execute(db);
    return rows[0]?.some !== false;
  };
  if (await holds(store.db)) return false;
  return await inTurn(store, async (db) => {
    await sql`lock table only ${sql.id(name)} in share row exclusive mode`.execute(db);
    if (await holds(db)) return false;
    await sql.raw(`alter table ${table} detach partition ${name}`).execute(db);
    await sql.raw(`drop table ${name}`).execute(db);
    return true;
  });
}
