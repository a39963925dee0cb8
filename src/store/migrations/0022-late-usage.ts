import { type Kysely, sql } from 'kysely';

/** Sums of usage go by the late ends of calls; those that are in the database already are counted by the nodes that wrote them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const number = (table: string, name: string): Promise<void> =>
    db.schema
      .alterTable(table)
      .addColumn(name, 'bigint', (column) => column.notNull().defaultTo(sql.lit(0)))
      .execute();
  await number('usage_rollups', 'late_of');
  await number('late_ends', 'counted');
}
