import { type Kysely, sql } from 'kysely';

/**
 * Ids of custom capabilities become those of their owner: two callers may use the same one without knowing of each other. Those that were
 * made without a key have the empty owner. SQLite cannot change a primary key, so that the table is made anew.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('owned_capabilities')
    .addColumn('owner', 'text', (column) => column.notNull())
    .addColumn('id', 'text', (column) => column.notNull())
    .addColumn('key_id', 'text')
    .addColumn('document', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('updated_at', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('owned_capabilities_owner_id', ['owner', 'id'])
    .execute();
  await sql`
    insert into owned_capabilities (owner, id, key_id, document, created_at, updated_at)
    select coalesce(key_id, ''), id, key_id, document, created_at, updated_at from custom_capabilities
  `.execute(db);
  await db.schema.dropTable('custom_capabilities').execute();
  await db.schema.alterTable('owned_capabilities').renameTo('custom_capabilities').execute();
}
