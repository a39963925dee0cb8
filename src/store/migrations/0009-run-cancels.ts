import type { Kysely } from 'kysely';

/** Runs that somebody wants ended, told to a process that does not drive them: the one that does looks here. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('run_cancels')
    .addColumn('run_id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('requested_at', 'bigint', (column) => column.notNull())
    .execute();
}
