import type { Kysely } from 'kysely';

/** Run ids grow with time, so the primary key also serves lists by age, and a new row never lands between old ones. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('recordings')
    .addColumn('run_id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('node', 'text', (column) => column.notNull())
    .addColumn('recorded_at', 'bigint', (column) => column.notNull())
    .addColumn('key_id', 'text')
    .addColumn('tags', 'text', (column) => column.notNull())
    .addColumn('engine', 'text')
    .addColumn('dialect', 'text')
    .addColumn('sent_dialect', 'text')
    .addColumn('replayable', 'bigint', (column) => column.notNull())
    .addColumn('document', 'text', (column) => column.notNull())
    .execute();
}
