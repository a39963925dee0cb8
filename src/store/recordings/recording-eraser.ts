import type { RunId } from '../../contract/run-id.ts';
import { runKey } from '../receipts/receipt-columns.ts';
import type { Store } from '../store.ts';
import { blockTime } from './body-files.ts';
import type { BodyShelf } from './body-shelf.ts';
import { bodiesOf, type Recording, recordingOf } from './recording.ts';
import { requestsOf } from './recording-writer.ts';

const PAGE = 500;
const TIME_DIGITS = 12;

/**
 * Erases the recordings of runs; how many there were. A body that no other run had goes with them. The rows go last: an erasure that is
 * interrupted finds them again.
 */
export async function eraseRecordings(store: Store, shelf: BodyShelf, node: string, runs: readonly RunId[]): Promise<number> {
  if (runs.length === 0) return 0;
  const named = new Set<string>(runs);
  const erased: Recording[] = [];
  const wanted = new Set<string>();
  await eachRecording(store, node, (recording) => {
    if (named.has(recording.runId)) erased.push(recording);
    else for (const { sha256 } of bodiesOf(recording)) wanted.add(sha256);
  });
  const unwanted = erased.flatMap(bodiesOf).flatMap(({ sha256 }) => (wanted.has(sha256) ? [] : [sha256]));
  await shelf.erase([...new Set(unwanted)]);
  shelf.forgetRequests(erased.flatMap(requestsOf));
  return await deleteRows(
    store,
    node,
    erased.map(({ runId }) => runKey(runId)),
  );
}

async function eachRecording(store: Store, node: string, visit: (recording: Recording) => void): Promise<void> {
  let last = '';
  for (;;) {
    const rows = await store.db
      .selectFrom('recordings')
      .selectAll()
      .where('node', '=', node)
      .where('run_id', '>', last)
      .orderBy('run_id')
      .limit(PAGE)
      .execute();
    for (const row of rows) visit(recordingOf(row));
    last = rows.at(-1)?.run_id ?? last;
    if (rows.length < PAGE) return;
  }
}

async function deleteRows(store: Store, node: string, runs: readonly string[]): Promise<number> {
  let deleted = 0n;
  for (let at = 0; at < runs.length; at += PAGE) {
    const result = await store.db
      .deleteFrom('recordings')
      .where('node', '=', node)
      .where('run_id', 'in', runs.slice(at, at + PAGE))
      .executeTakeFirst();
    deleted += result.numDeletedRows;
  }
  return Number(deleted);
}

/** Removes a block, and the recordings of runs that began until it was written: their bodies stood in it or in older ones. */
export async function dropBlock(store: Store, shelf: BodyShelf, node: string, block: string): Promise<void> {
  // Ids of runs begin with their time in milliseconds.
  const before = (blockTime(block) + 1).toString(16).padStart(TIME_DIGITS, '0');
  await store.db.deleteFrom('recordings').where('node', '=', node).where('run_id', '<', before).execute();
  shelf.dropBlock(block, before);
}
