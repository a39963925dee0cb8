import type { Kysely } from 'kysely';

/** Roles of users and who signs in as whom, teams that show runs, services with keys, and keys with more than one secret. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const name of ['role', 'subject', 'key_id', 'mac']) await db.schema.alterTable('users').addColumn(name, 'text').execute();
  await db.schema
    .alterTable('teams')
    .addColumn('shows_runs', 'integer', (column) => column.notNull().defaultTo(0))
    .execute();
  await db.schema.alterTable('key_holders').addColumn('service', 'text').execute();
  await db.schema.alterTable('keys').addColumn('rotated_at', 'bigint').execute();
  await db.schema.alterTable('keys').addColumn('last_used_at', 'bigint').execute();
  await db.schema
    .createTable('key_secrets')
    .addColumn('id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('hash', 'text', (column) => column.notNull().unique())
    .addColumn('key_id', 'text', (column) => column.notNull().references('keys.id').onDelete('cascade'))
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('label', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .addColumn('mac', 'text', (column) => column.notNull())
    .execute();
  await db.schema.createIndex('key_secrets_key').on('key_secrets').column('key_id').execute();
}
