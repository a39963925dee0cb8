import type { Kysely } from 'kysely';

/** Bodies that somebody wants erased and another node has: the order waits for that node. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('erasures')
    .addColumn('run_id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('node', 'text', (column) => column.notNull())
    .addColumn('asked_at', 'bigint', (column) => column.notNull())
    .execute();
  await db.schema.createIndex('erasures_node').on('erasures').columns(['node']).execute();
}
