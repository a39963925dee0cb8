import type { Insertable, Selectable } from 'kysely';
import type { JsonObject } from '../../base/json.ts';
import { parseRunId, type RunId } from '../../contract/run-id.ts';
import { runKey } from '../receipts/receipt-columns.ts';
import { storedTags, tagsColumn } from '../tags.ts';
import { damaged, indexedOrNull, storedObject } from '../text.ts';
import type { RecordingsTable } from './recording-schema.ts';

/** Size and SHA-256 of a body. */
export interface BodyDigest {
  readonly sha256: string;
  readonly bytes: number;
}

/** A request as it stood on the wire; headers are a flat list without credentials. */
export interface RecordedRequest {
  readonly dialect: string | null;
  readonly method: string;
  /** Path and query, without credentials. */
  readonly path: string;
  readonly headers: readonly string[];
  readonly body: BodyDigest;
}

/** An answer as it came. */
export interface RecordedAnswer {
  readonly status: number;
  readonly headers: readonly string[];
  readonly trailers: readonly string[];
  /** Microseconds from the arrival of the request to the headers. */
  readonly headUs: number;
  readonly body: BodyDigest;
  /** Length and arrival of each chunk, in turn, the latter in microseconds after the request; or the body that lists them. */
  readonly marks: readonly number[] | BodyDigest;
  /** The answer came to its end. */
  readonly complete: boolean;
}

/** The recording of a run. Bodies are elsewhere, under their digests. */
export interface Recording {
  readonly runId: RunId;
  readonly node: string;
  /** When the request arrived. */
  readonly startedAt: number;
  readonly keyId: string | null;
  readonly tags: readonly string[];
  readonly engine: string | null;
  readonly model: string | null;
  readonly request: RecordedRequest;
  /** The request that the engine got; null where it got the caller's bytes, or nothing. */
  readonly sent: RecordedRequest | null;
  /** The engine's answer; null when it gave none. */
  readonly response: RecordedAnswer | null;
  /** The caller's answer, where that is not the engine's. */
  readonly delivered: RecordedAnswer | null;
  /** A secret was removed from a body, so what is kept is not what was sent. */
  readonly redacted: boolean;
  /** The run can be served again byte for byte. */
  readonly replayable: boolean;
}

/** Every body that a recording speaks of. */
export function bodiesOf({ request, sent, response, delivered }: Recording): BodyDigest[] {
  const answers = [response, delivered].flatMap((answer) =>
    answer === null ? [] : [answer.body, ...(isDigest(answer.marks) ? [answer.marks] : [])],
  );
  return [request.body, ...(sent === null ? [] : [sent.body]), ...answers];
}

export function isDigest(marks: RecordedAnswer['marks']): marks is BodyDigest {
  return 'sha256' in marks;
}

export function recordingRow(recording: Recording): Insertable<RecordingsTable> {
  const { runId, node, startedAt, keyId, tags, engine, request, sent, replayable, ...rest } = recording;
  return {
    run_id: runKey(runId),
    node,
    recorded_at: startedAt,
    key_id: indexedOrNull(keyId),
    tags: tagsColumn(tags),
    engine: indexedOrNull(engine),
    dialect: request.dialect,
    sent_dialect: sent?.dialect ?? null,
    replayable: replayable ? 1 : 0,
    document: JSON.stringify({ request, sent, ...rest }),
  };
}

export function recordingOf(row: Selectable<RecordingsTable>): Recording {
  const runId = parseRunId(row.run_id);
  if (runId === undefined) throw damaged('run_id', row.run_id);
  // Documents are written by `recordingRow` alone, from a Recording.
  const document = storedObject('document', row.document) as unknown as Pick<Recording, 'request' | 'sent' | 'response' | 'delivered'> &
    Pick<Recording, 'model' | 'redacted'> &
    JsonObject;
  return {
    runId,
    node: row.node,
    startedAt: row.recorded_at,
    keyId: row.key_id,
    tags: storedTags(row.tags),
    engine: row.engine,
    model: document.model,
    request: document.request,
    sent: document.sent,
    response: document.response,
    delivered: document.delivered,
    redacted: document.redacted,
    replayable: row.replayable === 1,
  };
}
