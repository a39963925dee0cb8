import { type Kysely, SqliteAdapter, sql } from 'kysely';

/**
 * Nodes tell each other here how much they use of limits that they share. That is worthless after a crash of the database, so its log has
 * none of it.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('limit_uses')
    .addColumn('limited', 'text', (column) => column.notNull())
    .addColumn('node', 'text', (column) => column.notNull())
    .addColumn('demand', 'bigint', (column) => column.notNull())
    .addColumn('under_way', 'bigint', (column) => column.notNull())
    .addColumn('told_at', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('limit_uses_key', ['limited', 'node'])
    .execute();
  if (!(db.getExecutor().adapter instanceof SqliteAdapter)) await sql`alter table limit_uses set unlogged`.execute(db);
}
