import pg from 'pg';
import { AbpError } from '../../contract/errors.ts';
import { openPostgres, withoutSecrets } from '../databases/postgres.ts';
import { openSqlite } from '../databases/sqlite.ts';
import { dateUnfinished } from '../receipts/run-days.ts';
import { quoted, type Row, STEP_TABLES } from './snapshot.ts';
import type { RestoreTarget } from './target.ts';

const OTHERS = `
  select count(*)::int as count from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid() and application_name like 'agent-backplane%'`;

const PRESENT = `
  select relname as name from pg_class
  where relnamespace = to_regnamespace(current_schema()) and relkind in ('r', 'p') and not relispartition`;

/** The most parameters that a statement of PostgreSQL takes. */
const MOST_PARAMETERS = 65_535;

export interface PostgresTargetOptions {
  readonly url: string;
  /** The step of the schema that the backup was made at. */
  readonly step: string;
  /** The tables of the backup. */
  readonly tables: readonly string[];
  /** Whether what is there may go. */
  readonly force: boolean;
}

/** The database behind the URL, emptied, with the schema of the step. Refuses one that is used, or that holds something, unless it may go. */
export async function postgresTarget({ url, step, tables, force }: PostgresTargetOptions): Promise<RestoreTarget> {
  const client = new pg.Client({ connectionString: url, application_name: 'agent-backplane restore' });
  await client.connect();
  try {
    await assertUnused(client, url);
    const own = new Set([...tables, ...(await tablesOfToday()), ...STEP_TABLES]);
    const { rows } = await client.query<{ name: string }>(PRESENT);
    const present = rows.map(({ name }) => name).filter((name) => own.has(name));
    if (!force) await assertEmpty(client, url, present);
    if (present.length > 0) await client.query(`drop table ${present.map(quoted).join(', ')} cascade`);
    const opened = await openPostgres(url, { upTo: step });
    await opened.close();
    await client.query('begin');
    const named = await client.query<{ name: string }>('select current_database() as name');
    return targetOn(client, url, named.rows[0]?.name ?? '');
  } catch (error) {
    await client.end();
    throw error;
  }
}

function targetOn(client: pg.Client, url: string, database: string): RestoreTarget {
  const emptied = new Set<string>();
  return {
    database,
    insert: async (table, columns, rows) => {
      // A step may have put rows of its own there.
      if (!emptied.has(table)) await client.query(`delete from ${quoted(table)}`);
      emptied.add(table);
      const most = Math.floor(MOST_PARAMETERS / columns.length);
      for (let at = 0; at < rows.length; at += most) await insertRows(client, table, columns, rows.slice(at, at + most));
    },
    finish: async () => {
      await client.query('commit');
      await client.end();
      const opened = await openPostgres(url);
      await dateUnfinished(opened);
      await opened.close();
    },
    abort: () => client.end(),
  };
}

async function insertRows(client: pg.Client, table: string, columns: readonly string[], rows: readonly Row[]): Promise<void> {
  if (rows.length === 0) return;
  let number = 0;
  const places = rows.map((row) => `(${row.map(() => `$${++number}`).join(', ')})`);
  await client.query(`insert into ${quoted(table)} (${columns.map(quoted).join(', ')}) values ${places.join(', ')}`, rows.flat());
}

/** The tables that a database of this version has. */
async function tablesOfToday(): Promise<string[]> {
  const { db, close } = await openSqlite(':memory:');
  const tables = await db.introspection.getTables();
  await close();
  return tables.map(({ name }) => name);
}

async function assertUnused(client: pg.Client, url: string): Promise<void> {
  const { rows } = await client.query<{ count: number }>(OTHERS);
  const count = rows[0]?.count ?? 0;
  if (count > 0)
    throw new AbpError(
      'conflict',
      `the database ${withoutSecrets(url)} is used by running backplanes (${count} connections)`,
      {},
      'Stop every server and worker on that database first.',
    );
}

async function assertEmpty(client: pg.Client, url: string, present: readonly string[]): Promise<void> {
  for (const name of present.filter((one) => !STEP_TABLES.some((step) => step === one))) {
    const { rowCount } = await client.query(`select 1 from ${quoted(name)} limit 1`);
    if (rowCount === 0) continue;
    throw new AbpError(
      'conflict',
      `the database ${withoutSecrets(url)} is not empty: ${name} has rows`,
      { table: name },
      'Name an empty database in ABP_DATABASE_URL, or give --force to replace what is there.',
    );
  }
}
