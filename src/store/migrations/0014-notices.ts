import type { Kysely } from 'kysely';

/** Notices to webhooks, until they are delivered and a while longer. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('notices')
    .addColumn('id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('webhook', 'text', (column) => column.notNull())
    .addColumn('event', 'text', (column) => column.notNull())
    .addColumn('topic', 'text', (column) => column.notNull())
    .addColumn('document', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('due_at', 'bigint', (column) => column.notNull())
    .addColumn('tries', 'bigint', (column) => column.notNull())
    .addColumn('ended_at', 'bigint')
    .addColumn('outcome', 'text')
    .addUniqueConstraint('notices_once', ['webhook', 'topic'])
    .execute();
  await db.schema.createIndex('notices_due').on('notices').columns(['webhook', 'ended_at', 'due_at']).execute();
}
