import { type Kysely, sql } from 'kysely';

/** A row of a key carries a code that only a process of the home can make: a row that was put there by hand is no key. Receipts are found by what the run did. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('keys').addColumn('mac', 'text').execute();
  await db.schema
    .createIndex('receipts_content')
    .on('receipts')
    .columns(['receipt_sha256', 'started_at'])
    .where(sql.ref('receipt_sha256'), 'is not', null)
    .execute();
}
