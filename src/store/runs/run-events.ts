import type { JsonObject } from '../../base/json.ts';
import type { RunId } from '../../contract/run-id.ts';
import { runKey } from '../receipts/receipt-columns.ts';
import type { Store } from '../store.ts';
import { storableText, storedObject } from '../text.ts';

const PAGE = 500;
/** SQLite binds at most 32,766 values in a statement; a row has three. */
const BATCH = 1000;

/** An event of a run and its place; the first has the number 1. */
export interface StoredRunEvent {
  readonly sequence: number;
  readonly event: JsonObject;
}

/** Appends events of a run. They are never changed; a number is never given twice. */
export async function appendRunEvents(store: Store, runId: RunId, events: readonly StoredRunEvent[]): Promise<void> {
  for (let at = 0; at < events.length; at += BATCH) {
    const rows = events.slice(at, at + BATCH).map(({ sequence, event }) => ({
      run_id: runKey(runId),
      sequence,
      event: storableText(JSON.stringify(event)),
    }));
    await store.db.insertInto('run_events').values(rows).execute();
  }
}

/** The next events after a number, a page of them at most. */
export async function readRunEvents(store: Store, runId: RunId, after: number): Promise<StoredRunEvent[]> {
  const rows = await store.db
    .selectFrom('run_events')
    .select(['sequence', 'event'])
    .where('run_id', '=', runKey(runId))
    .where('sequence', '>', after)
    .orderBy('sequence')
    .limit(PAGE)
    .execute();
  return rows.map(({ sequence, event }) => ({ sequence, event: storedObject('event of a run', event) }));
}

export async function deleteRunEvents(store: Store, runId: RunId): Promise<void> {
  await store.db.deleteFrom('run_events').where('run_id', '=', runKey(runId)).execute();
}

/** The newest events, oldest of them first. */
export async function readLastRunEvents(store: Store, runId: RunId, many: number): Promise<StoredRunEvent[]> {
  const rows = await store.db
    .selectFrom('run_events')
    .select(['sequence', 'event'])
    .where('run_id', '=', runKey(runId))
    .orderBy('sequence', 'desc')
    .limit(many)
    .execute();
  return rows.map(({ sequence, event }) => ({ sequence, event: storedObject('event of a run', event) })).reverse();
}
