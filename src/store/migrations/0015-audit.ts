import type { Kysely } from 'kysely';

/** Records of the audit log on their way into the chain. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('audit_pending')
    .addColumn('id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('node', 'text', (column) => column.notNull())
    .addColumn('at', 'bigint', (column) => column.notNull())
    .addColumn('record', 'text', (column) => column.notNull())
    .addColumn('outcome', 'text')
    .addColumn('target', 'text')
    .addColumn('error', 'text')
    .execute();
}
