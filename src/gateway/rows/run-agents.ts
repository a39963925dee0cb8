import { parseRunId } from '../../contract/run-id.ts';
import { runKey } from '../../store/receipts/receipt-columns.ts';
import type { Store } from '../../store/store.ts';
import type { RunRow } from '../api/run-rows.ts';

/** The coding agents on whose behalf calls were made, by the id of the parent run. */
export async function agentsOf(store: Store, rows: readonly RunRow[]): Promise<ReadonlyMap<string, string>> {
  const parents = new Map<string, string>();
  for (const { parent_run_id: parent } of rows) {
    const run = parent === null ? undefined : parseRunId(parent);
    if (run !== undefined) parents.set(runKey(run), run);
  }
  if (parents.size === 0) return new Map();
  const found = await store.db
    .selectFrom('runs')
    .select(['run_id', 'agent'])
    .where('run_id', 'in', [...parents.keys()])
    .execute();
  return new Map(found.map(({ run_id, agent }) => [parents.get(run_id) ?? run_id, agent]));
}
