import type { Kysely } from 'kysely';

async function createKeys(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('keys')
    .addColumn('id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('hash', 'text', (column) => column.notNull().unique())
    .addColumn('prefix', 'text', (column) => column.notNull())
    .addColumn('scopes', 'text', (column) => column.notNull())
    .addColumn('recording', 'text')
    .addColumn('tags', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('expires_at', 'bigint')
    .addColumn('revoked_at', 'bigint')
    .addColumn('run_id', 'text')
    .execute();
  await db.schema.createIndex('keys_created').on('keys').columns(['created_at', 'id']).execute();
}

async function createReceipts(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('receipts')
    .addColumn('run_id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('revision', 'bigint', (column) => column.notNull())
    .addColumn('plane', 'text', (column) => column.notNull())
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('dialect', 'text')
    .addColumn('engine', 'text')
    .addColumn('model', 'text')
    .addColumn('mode', 'text')
    .addColumn('key_id', 'text')
    .addColumn('started_at', 'bigint', (column) => column.notNull())
    .addColumn('completed_at', 'bigint')
    .addColumn('tags', 'text', (column) => column.notNull())
    .addColumn('receipt_sha256', 'text')
    .addColumn('document', 'text', (column) => column.notNull())
    .execute();
  // Lists run newest first; both databases read an ascending index backwards. `plane` has too few values to deserve its own.
  await db.schema.createIndex('receipts_started').on('receipts').columns(['started_at', 'run_id']).execute();
  for (const filter of ['engine', 'model', 'status', 'key_id']) {
    await db.schema.createIndex(`receipts_${filter}`).on('receipts').columns([filter, 'started_at', 'run_id']).execute();
  }
}

export async function up(db: Kysely<unknown>): Promise<void> {
  await createKeys(db);
  await createReceipts(db);
  await db.schema
    .createTable('journal_positions')
    .addColumn('segment', 'text', (column) => column.primaryKey().notNull())
    .addColumn('node', 'text', (column) => column.notNull())
    .addColumn('position', 'bigint', (column) => column.notNull())
    .addColumn('updated_at', 'bigint', (column) => column.notNull())
    .execute();
  await db.schema
    .createTable('settings')
    .addColumn('name', 'text', (column) => column.primaryKey().notNull())
    .addColumn('value', 'text', (column) => column.notNull())
    .execute();
}
