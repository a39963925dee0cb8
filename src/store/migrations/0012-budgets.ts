import type { Kysely } from 'kysely';

const GRANTED = ['nano_usd', 'tokens', 'requests', 'last_call'];

/** Budgets, and the parts of them that nodes which share the database may use in a period. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('budgets')
    .addColumn('id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('on_kind', 'text', (column) => column.notNull())
    .addColumn('on_id', 'text', (column) => column.notNull())
    .addColumn('period', 'text', (column) => column.notNull())
    .addColumn('limit_nano_usd', 'bigint')
    .addColumn('limit_tokens', 'bigint')
    .addColumn('limit_requests', 'bigint')
    .addColumn('action', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .execute();
  let grants = db.schema
    .createTable('budget_grants')
    .addColumn('budget', 'text', (column) => column.notNull())
    .addColumn('window_start', 'bigint', (column) => column.notNull())
    .addColumn('node', 'text', (column) => column.notNull());
  for (const name of GRANTED) grants = grants.addColumn(name, 'bigint', (column) => column.notNull());
  await grants.addPrimaryKeyConstraint('budget_grants_key', ['budget', 'window_start', 'node']).execute();
}
