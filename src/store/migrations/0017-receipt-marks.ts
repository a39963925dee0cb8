import { type Kysely, SqliteAdapter, sql } from 'kysely';

const KIND_TEXTS = ['plane', 'engine', 'model', 'status', 'mode', 'agent', 'reason', 'error', 'words'];

/** Lists find receipts by these marks, beside their time. The keeper marks what is in the database already, little by little. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('receipt_marks')
    .addColumn('mark', 'bigint', (column) => column.notNull())
    .addColumn('started_at', 'bigint', (column) => column.notNull())
    .addColumn('run_id', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('receipt_marks_key', ['mark', 'started_at', 'run_id'])
    // The key is the whole row, so that SQLite needs no second tree for it.
    .$call((table) => (isSqlite(db) ? table.modifyEnd(sql`without rowid`) : table))
    .execute();
  let kinds = db.schema.createTable('receipt_kinds').addColumn('mark', 'bigint', (column) => column.primaryKey().notNull());
  for (const name of KIND_TEXTS) kinds = kinds.addColumn(name, 'text', (column) => column.notNull());
  await kinds.execute();
  await db.schema
    .createTable('mark_positions')
    .addColumn('chain', 'bigint', (column) => column.primaryKey().notNull())
    .addColumn('sequence', 'bigint', (column) => column.notNull())
    .execute();
}

function isSqlite(db: Kysely<unknown>): boolean {
  return db.getExecutor().adapter instanceof SqliteAdapter;
}
