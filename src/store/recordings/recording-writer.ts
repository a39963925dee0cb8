import { runKey } from '../receipts/receipt-columns.ts';
import type { Store } from '../store.ts';
import type { BodyShelf } from './body-shelf.ts';
import { type Recording, recordingRow } from './recording.ts';

/** A recording with the bodies it speaks of, by digest. */
export interface NewRecording {
  readonly recording: Recording;
  readonly bodies: ReadonlyMap<string, Buffer>;
}

/** Well below the number of values that SQLite takes in one statement. */
const ROWS = 500;

/**
 * Saves recordings: first their bodies, then who sent them, then the rows that make them known. A keeper that is interrupted saves them
 * again; nothing is stored twice. The block that was written, if one was.
 */
export async function saveRecordings(store: Store, shelf: BodyShelf, recordings: readonly NewRecording[]): Promise<string | undefined> {
  if (recordings.length === 0) return undefined;
  const block = shelf.add(new Map(recordings.flatMap((one) => [...one.bodies])));
  shelf.noteRequests(recordings.flatMap(({ recording }) => requestsOf(recording)));
  const rows = recordings.map(({ recording }) => recordingRow(recording));
  for (let at = 0; at < rows.length; at += ROWS) {
    await store.db
      .insertInto('recordings')
      .values(rows.slice(at, at + ROWS))
      .onConflict((conflict) => conflict.column('run_id').doNothing())
      .execute();
  }
  return block;
}

/** The bodies that a run sent. */
export function requestsOf({ runId, request, sent }: Recording): [digest: string, run: string][] {
  const run = runKey(runId);
  return [request, ...(sent === null ? [] : [sent])].map(({ body }) => [body.sha256, run]);
}
