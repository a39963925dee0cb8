import { type Kysely, sql } from 'kysely';

async function createChains(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('chains')
    .addColumn('number', 'bigint', (column) => column.primaryKey().notNull())
    .addColumn('node', 'text', (column) => column.notNull().unique())
    .addColumn('sequence', 'bigint', (column) => column.notNull())
    .addColumn('hash', 'text', (column) => column.notNull())
    .addColumn('key_id', 'text', (column) => column.notNull())
    .execute();
  await db.schema
    .createTable('chain_entries')
    .addColumn('chain', 'bigint', (column) => column.notNull())
    .addColumn('sequence', 'bigint', (column) => column.notNull())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('document', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('chain_entries_pkey', ['chain', 'sequence'])
    .execute();
  await db.schema
    .createTable('chain_heads')
    .addColumn('chain', 'bigint', (column) => column.notNull())
    .addColumn('sequence', 'bigint', (column) => column.notNull())
    .addColumn('document', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('chain_heads_pkey', ['chain', 'sequence'])
    .execute();
  await db.schema
    .createTable('seal_keys')
    .addColumn('id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('chain', 'bigint', (column) => column.notNull())
    .addColumn('public_key', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('retired_at', 'bigint')
    .execute();
}

/** The unique index is what makes a fork impossible: no two receipts of a node can hold the same place. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await createChains(db);
  await db.schema.alterTable('receipts').addColumn('chain', 'bigint').execute();
  await db.schema.alterTable('receipts').addColumn('sequence', 'bigint').execute();
  await db.schema
    .createIndex('receipts_sealed')
    .unique()
    .on('receipts')
    .columns(['chain', 'sequence'])
    .where(sql.ref('sequence'), 'is not', null)
    .execute();
}
