import type { RunId } from '../../contract/run-id.ts';
import { decodeCursor, type Page, type PageOptions, pageOf, pageSize } from '../page.ts';
import { runKey } from '../receipts/receipt-columns.ts';
import type { Store } from '../store.ts';
import { hasTag } from '../tags.ts';
import { indexedText } from '../text.ts';
import type { BodyShelf } from './body-shelf.ts';
import { type Recording, recordingOf } from './recording.ts';

export async function getRecording(store: Store, runId: RunId): Promise<Recording | undefined> {
  const row = await store.db.selectFrom('recordings').selectAll().where('run_id', '=', runKey(runId)).executeTakeFirst();
  return row === undefined ? undefined : recordingOf(row);
}

/** Which of the runs are recorded, and whether each can be replayed. */
export async function recordedRuns(store: Store, runs: readonly RunId[]): Promise<Map<string, boolean>> {
  const known = new Map<string, boolean>();
  for (let at = 0; at < runs.length; at += 500) {
    const rows = await store.db
      .selectFrom('recordings')
      .select(['run_id', 'replayable'])
      .where('run_id', 'in', runs.slice(at, at + 500).map(runKey))
      .execute();
    for (const row of rows) known.set(row.run_id, row.replayable === 1);
  }
  return known;
}

/** Whose recordings are looked at: those of one key, or those made without any. */
export interface Owner {
  readonly node: string;
  readonly keyId: string | null;
}

const MOST_ALIKE = 50;

/** Recordings whose caller, or whose mapping, sent this body; newest first. */
export async function findRecordings(store: Store, shelf: BodyShelf, owner: Owner, sha256: string): Promise<Recording[]> {
  const runs = shelf.runsOf(sha256, MOST_ALIKE);
  if (runs.length === 0) return [];
  const rows = await store.db
    .selectFrom('recordings')
    .selectAll()
    .where('run_id', 'in', runs)
    .where('node', '=', owner.node)
    .where('key_id', owner.keyId === null ? 'is' : '=', owner.keyId)
    .orderBy('run_id', 'desc')
    .execute();
  return rows.map(recordingOf);
}

/** The newest recordings in a dialect, from either side. */
export async function recentRecordings(store: Store, owner: Owner, dialect: string, limit: number): Promise<Recording[]> {
  const rows = await store.db
    .selectFrom('recordings')
    .selectAll()
    .where((eb) => eb.or([eb('dialect', '=', dialect), eb('sent_dialect', '=', dialect)]))
    .where('node', '=', owner.node)
    .where('key_id', owner.keyId === null ? 'is' : '=', owner.keyId)
    .orderBy('run_id', 'desc')
    .limit(limit)
    .execute();
  return rows.map(recordingOf);
}

/** Which recordings to list; every given field must match. */
export interface RecordingFilter extends PageOptions {
  readonly key?: string | undefined;
  readonly tag?: string | undefined;
  readonly engine?: string | undefined;
  readonly run?: RunId | undefined;
  /** Only those of these keys; one at least. */
  readonly keys?: readonly string[] | undefined;
  /** Only those made without a key. */
  readonly unkeyed?: boolean | undefined;
}

/** Newest first. */
export async function listRecordings(store: Store, filter: RecordingFilter = {}): Promise<Page<Recording>> {
  const size = pageSize(filter.limit);
  let query = store.db.selectFrom('recordings').selectAll();
  if (filter.run !== undefined) query = query.where('run_id', '=', runKey(filter.run));
  if (filter.key !== undefined) query = query.where('key_id', '=', indexedText(filter.key));
  if (filter.keys !== undefined) query = query.where('key_id', 'in', filter.keys.map(indexedText));
  if (filter.unkeyed === true) query = query.where('key_id', 'is', null);
  if (filter.engine !== undefined) query = query.where('engine', '=', indexedText(filter.engine));
  const { tag, cursor } = filter;
  if (tag !== undefined) query = query.where((eb) => eb.and([hasTag(store, tag)]));
  if (cursor !== undefined) query = query.where('run_id', '<', decodeCursor(cursor).id);
  const rows = await query
    .orderBy('run_id', 'desc')
    .limit(size + 1)
    .execute();
  return pageOf(rows.map(recordingOf), size, (recording) => ({ time: recording.startedAt, id: runKey(recording.runId) }));
}
