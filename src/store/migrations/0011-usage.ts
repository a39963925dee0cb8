import { type Kysely, sql } from 'kysely';

const TEXTS = ['engine', 'model', 'key_id', 'agent', 'status', 'mode', 'error', 'tags', 'first_byte', 'total'];
const NUMBERS = ['fates', 'calls', 'unpriced', 'cost_nano_usd', 'tokens_in', 'tokens_out', 'cache_read', 'thinking'];

/** Sums of calls by hour and by day. What is in the database already is added up by the keeper, little by little. */
export async function up(db: Kysely<unknown>): Promise<void> {
  let table = db.schema
    .createTable('usage_rollups')
    .addColumn('span', 'text', (column) => column.notNull())
    .addColumn('start', 'bigint', (column) => column.notNull())
    .addColumn('chain', 'bigint', (column) => column.notNull())
    .addColumn('facets', 'text', (column) => column.notNull());
  for (const name of TEXTS) table = table.addColumn(name, 'text', (column) => column.notNull());
  for (const name of NUMBERS) table = table.addColumn(name, 'bigint', (column) => column.notNull().defaultTo(sql.lit(0)));
  await table.addPrimaryKeyConstraint('usage_rollups_key', ['span', 'start', 'chain', 'facets']).execute();
  await db.schema
    .createTable('usage_positions')
    .addColumn('chain', 'bigint', (column) => column.primaryKey().notNull())
    .addColumn('sequence', 'bigint', (column) => column.notNull())
    .execute();
}
