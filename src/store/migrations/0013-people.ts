import type { Kysely } from 'kysely';

/** Users and teams, who belongs where, and whose keys are whose. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('teams')
    .addColumn('id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('limits', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .execute();
  await db.schema
    .createTable('users')
    .addColumn('id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .execute();
  await db.schema
    .createTable('team_members')
    .addColumn('team_id', 'text', (column) => column.notNull().references('teams.id').onDelete('cascade'))
    .addColumn('user_id', 'text', (column) => column.notNull().references('users.id').onDelete('cascade'))
    .addPrimaryKeyConstraint('team_members_key', ['team_id', 'user_id'])
    .execute();
  await db.schema
    .createTable('key_holders')
    .addColumn('key_id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('user_id', 'text')
    .addColumn('team_id', 'text')
    .execute();
}
