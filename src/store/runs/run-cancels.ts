import type { RunId } from '../../contract/run-id.ts';
import { runKey } from '../receipts/receipt-columns.ts';
import type { Store } from '../store.ts';

/** Tells the process that drives a run, wherever it is, to end it. Twice is once. */
export async function requestCancel(store: Store, run: RunId, at: number): Promise<void> {
  await store.db
    .insertInto('run_cancels')
    .values({ run_id: runKey(run), requested_at: at })
    .onConflict((conflict) => conflict.column('run_id').doNothing())
    .execute();
}

export async function isCancelRequested(store: Store, run: RunId): Promise<boolean> {
  const row = await store.db.selectFrom('run_cancels').select('run_id').where('run_id', '=', runKey(run)).executeTakeFirst();
  return row !== undefined;
}

/** The run has ended. */
export async function forgetCancel(store: Store, run: RunId): Promise<void> {
  await store.db.deleteFrom('run_cancels').where('run_id', '=', runKey(run)).execute();
}
