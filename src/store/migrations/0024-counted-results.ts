import type { Kysely } from 'kysely';

/** Results that vendors tell as often as they are asked: how many of their rows have been counted, so that none is counted twice. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('counted_results')
    .addColumn('name', 'text', (column) => column.primaryKey().notNull())
    .addColumn('counted', 'bigint', (column) => column.notNull())
    .addColumn('counted_at', 'bigint', (column) => column.notNull())
    .execute();
}
