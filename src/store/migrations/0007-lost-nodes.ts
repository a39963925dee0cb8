import type { Kysely } from 'kysely';

/** Ends that a node knows of runs which another node had to close for it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('late_ends')
    .addColumn('run_id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('chain', 'bigint', (column) => column.notNull())
    .addColumn('sequence', 'bigint', (column) => column.notNull())
    .addColumn('document', 'text', (column) => column.notNull())
    .execute();
  await db.schema.alterTable('runs').addColumn('closed_by', 'text').execute();
}
