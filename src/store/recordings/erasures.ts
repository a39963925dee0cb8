import type { RunId } from '../../contract/run-id.ts';
import { parseRunId } from '../../contract/run-id.ts';
import { runKey } from '../receipts/receipt-columns.ts';
import type { Store } from '../store.ts';

/** Rows of one statement. */
const AT_ONCE = 500;

function* some<T>(all: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < all.length; at += AT_ONCE) yield all.slice(at, at + AT_ONCE);
}

/** Tells the nodes that have the bodies of runs to erase them, now or when they are back. Twice is once. */
export async function askErasures(store: Store, runs: readonly { readonly runId: RunId; readonly node: string }[]): Promise<void> {
  const asked_at = Date.now();
  for (const few of some(runs)) {
    const rows = few.map(({ runId, node }) => ({ run_id: runKey(runId), node, asked_at }));
    await store.db
      .insertInto('erasures')
      .values(rows)
      .onConflict((conflict) => conflict.column('run_id').doNothing())
      .execute();
  }
}

/** Runs whose bodies this node is to erase, the oldest order first. */
export async function erasuresFor(store: Store, node: string): Promise<readonly RunId[]> {
  const rows = await store.db.selectFrom('erasures').select('run_id').where('node', '=', node).orderBy('asked_at').limit(AT_ONCE).execute();
  return rows.flatMap(({ run_id }) => parseRunId(run_id) ?? []);
}

/** The bodies are gone. */
export async function endErasures(store: Store, runs: readonly RunId[]): Promise<void> {
  for (const few of some(runs)) await store.db.deleteFrom('erasures').where('run_id', 'in', few.map(runKey)).execute();
}

/** Those of these runs whose bodies are still to be erased. */
export async function erasuresLeft(store: Store, runs: readonly RunId[]): Promise<ReadonlySet<RunId>> {
  const left = new Set<RunId>();
  for (const few of some(runs)) {
    const rows = await store.db.selectFrom('erasures').select('run_id').where('run_id', 'in', few.map(runKey)).execute();
    for (const { run_id } of rows) {
      const run = parseRunId(run_id);
      if (run !== undefined) left.add(run);
    }
  }
  return left;
}
