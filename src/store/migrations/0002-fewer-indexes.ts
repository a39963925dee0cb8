import { type Kysely, sql } from 'kysely';

/**
 * Every index is written with every receipt, and costs about as much as a tenth of it. Engines, models and states have few values:
 * a list of them is read from the index of times. A key may have few receipts among many, and unfinished runs are few; their
 * indexes hold only the rows in question.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const filter of ['engine', 'model', 'status', 'key_id']) await db.schema.dropIndex(`receipts_${filter}`).execute();
  await db.schema
    .createIndex('receipts_key')
    .on('receipts')
    .columns(['key_id', 'started_at', 'run_id'])
    .where('key_id', 'is not', null)
    .execute();
  await db.schema
    .createIndex('receipts_unfinished')
    .on('receipts')
    .columns(['started_at', 'run_id'])
    .where(sql.ref('completed_at'), 'is', null)
    .execute();
}
