import { DatabaseSync } from '../../base/builtin/sqlite.ts';
import { BATCH_ROWS, parentsFirst, quoted, type Row, type Snapshot, STEP_TABLES, type Value } from './snapshot.ts';

const BUSY_TIMEOUT_MS = 5000;

/**
 * The SQLite database of a home at one moment. A server may go on writing to it: readers of a write-ahead log see what was there when
 * their transaction began. Nothing is changed, the schema neither.
 */
export function sqliteSnapshot(file: string): Snapshot {
  const database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS });
  try {
    database.exec('pragma query_only = on; begin');
    const names = textsOf(
      database,
      "select name as text from sqlite_schema where type = 'table' and name not like 'sqlite_%' order by name",
    );
    const own = names.filter((name) => !STEP_TABLES.some((one) => one === name));
    const parentsOf = (name: string): string[] =>
      textsOf(database, `select "table" as text from pragma_foreign_key_list(${literal(name)})`);
    return {
      database: undefined,
      migrations: names.includes(STEP_TABLES[0]) ? textsOf(database, `select name as text from ${STEP_TABLES[0]} order by name`) : [],
      tables: parentsFirst(own, parentsOf).map((name) => ({
        name,
        columns: textsOf(database, `select name as text from pragma_table_info(${literal(name)}) order by cid`),
        batches: () => batchesOf(database, name),
      })),
      close: async () => database.close(),
    };
  } catch (error) {
    database.close();
    throw error;
  }
}

function textsOf(database: DatabaseSync, sql: string): string[] {
  return database
    .prepare(sql)
    .all()
    .map(({ text }) => String(text));
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

async function* batchesOf(database: DatabaseSync, name: string): AsyncGenerator<readonly Row[]> {
  const rows = database.prepare(`select * from ${quoted(name)}`);
  let batch: Row[] = [];
  for (const row of rows.iterate()) {
    batch.push(Object.values(row).map(columnValue));
    if (batch.length < BATCH_ROWS) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

function columnValue(value: unknown): Value {
  if (value === null || typeof value === 'string' || typeof value === 'number') return value;
  throw new TypeError(`a column holds a ${typeof value}, which no column of the schema does`);
}
