import { type Kysely, sql } from 'kysely';

/** Sums of usage know of calls that had come to an engine before the try that nobody took. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('usage_rollups')
    .addColumn('reached', 'bigint', (column) => column.notNull().defaultTo(sql.lit(0)))
    .execute();
}
