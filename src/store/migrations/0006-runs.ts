import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('runs')
    .addColumn('run_id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('plane', 'text', (column) => column.notNull())
    .addColumn('agent', 'text', (column) => column.notNull())
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('node', 'text', (column) => column.notNull())
    .addColumn('key_id', 'text')
    .addColumn('options', 'text', (column) => column.notNull())
    .addColumn('pid', 'bigint')
    .addColumn('pid_started', 'text')
    .addColumn('result', 'text')
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('updated_at', 'bigint', (column) => column.notNull())
    .addColumn('completed_at', 'bigint')
    .execute();
  await db.schema
    .createTable('run_events')
    .addColumn('run_id', 'text', (column) => column.notNull())
    .addColumn('sequence', 'bigint', (column) => column.notNull())
    .addColumn('event', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('run_events_key', ['run_id', 'sequence'])
    .execute();
  // A run looks its key up while it is billed and when it ends.
  await db.schema.createIndex('keys_run').on('keys').columns(['run_id']).where('run_id', 'is not', null).execute();
}
