import type { Kysely } from 'kysely';

/** Browsers that want to be told when something waits, each with the sign-in that it belongs to. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('push_subscriptions')
    .addColumn('id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('session', 'text', (column) => column.notNull().unique())
    .addColumn('endpoint_hash', 'text', (column) => column.notNull().unique())
    .addColumn('endpoint', 'text', (column) => column.notNull())
    .addColumn('p256dh', 'text', (column) => column.notNull())
    .addColumn('auth', 'text', (column) => column.notNull())
    .addColumn('push_key', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .addColumn('mac', 'text', (column) => column.notNull())
    .execute();
}
