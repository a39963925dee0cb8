import type { Store } from '../store.ts';

/** How many rows of a result have been counted. */
export async function countedRows(store: Store, name: string): Promise<number> {
  const row = await store.db.selectFrom('counted_results').select('counted').where('name', '=', name).executeTakeFirst();
  return Number(row?.counted ?? 0);
}

/** Rows of a result, from the first one that is not counted. */
export interface RowSpan {
  readonly name: string;
  readonly from: number;
  readonly to: number;
}

/** Notes that these rows are counted; false where somebody else has counted some of them since. */
export async function countRows(store: Store, { name, from, to }: RowSpan, now: number): Promise<boolean> {
  if (from === 0) {
    const { numInsertedOrUpdatedRows: inserted } = await store.db
      .insertInto('counted_results')
      .values({ name, counted: to, counted_at: now })
      .onConflict((conflict) => conflict.column('name').doNothing())
      .executeTakeFirstOrThrow();
    return Number(inserted ?? 0) > 0;
  }
  const { numUpdatedRows: updated } = await store.db
    .updateTable('counted_results')
    .set({ counted: to, counted_at: now })
    .where('name', '=', name)
    .where('counted', '=', from)
    .executeTakeFirstOrThrow();
  return Number(updated) > 0;
}
