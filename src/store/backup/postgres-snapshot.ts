import pg from 'pg';
import { columnTypes } from '../databases/postgres.ts';
import { BATCH_ROWS, parentsFirst, quoted, type Row, type Snapshot, STEP_TABLES, type TableSnapshot } from './snapshot.ts';

/** Tables of the schema that the connection works in; the parts of a divided table are read through it. */
const TABLES = `
  select relname as text from pg_class
  where relnamespace = to_regnamespace(current_schema()) and relkind in ('r', 'p') and not relispartition order by relname`;

const PARENTS = `
  select child.relname as child, parent.relname as parent from pg_constraint
  join pg_class child on child.oid = conrelid join pg_class parent on parent.oid = confrelid where contype = 'f'`;

/** The day of a receipt says which part it is in, and is nothing that SQLite or another database has. */
const COLUMNS = `
  select column_name as text from information_schema.columns
  where table_schema = current_schema() and table_name = $1 and (table_name, column_name) <> ('receipts', 'day') order by ordinal_position`;

/** A PostgreSQL database at one moment, while nodes go on writing to it. */
export async function postgresSnapshot(url: string): Promise<Snapshot> {
  const client = new pg.Client({ connectionString: url, application_name: 'agent-backplane backup', types: columnTypes });
  await client.connect();
  try {
    await client.query('begin isolation level repeatable read read only');
    const names = await textsOf(client, TABLES);
    const { rows } = await client.query<{ child: string; parent: string }>(PARENTS);
    const own = names.filter((name) => !STEP_TABLES.some((one) => one === name));
    const ordered = parentsFirst(own, (name) => rows.filter(({ child }) => child === name).map(({ parent }) => parent));
    const tables: TableSnapshot[] = [];
    for (const name of ordered) {
      const columns = await textsOf(client, COLUMNS, [name]);
      tables.push({ name, columns, batches: () => batchesOf(client, name, columns) });
    }
    const migrations = names.includes(STEP_TABLES[0])
      ? await textsOf(client, `select name as text from ${STEP_TABLES[0]} order by name`)
      : [];
    const [database = ''] = await textsOf(client, 'select current_database() as text');
    return { database, migrations, tables, close: () => client.end() };
  } catch (error) {
    await client.end();
    throw error;
  }
}

async function textsOf(client: pg.Client, sql: string, values: readonly string[] = []): Promise<string[]> {
  const { rows } = await client.query<{ text: string }>(sql, [...values]);
  return rows.map(({ text }) => text);
}

/** A cursor keeps what has not been fetched on the server. */
async function* batchesOf(client: pg.Client, name: string, columns: readonly string[]): AsyncGenerator<readonly Row[]> {
  await client.query(`declare rows no scroll cursor for select ${columns.map(quoted).join(', ')} from ${quoted(name)}`);
  for (;;) {
    const { rows } = await client.query<(string | number | null)[]>({ text: `fetch ${BATCH_ROWS} from rows`, rowMode: 'array' });
    if (rows.length === 0) break;
    yield rows;
  }
  await client.query('close rows');
}
