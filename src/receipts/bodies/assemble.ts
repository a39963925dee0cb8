import { sha256 } from '../../base/canonical-json.ts';
import { parseJson } from '../../base/json.ts';
import type { Redactor } from '../../base/redact.ts';
import { AbpError } from '../../contract/errors.ts';
import type { RunId } from '../../contract/run-id.ts';
import type { BodyDigest, RecordedAnswer, RecordedRequest, Recording } from '../../store/recordings/recording.ts';
import type { NewRecording } from '../../store/recordings/recording-writer.ts';
import { decodedBody } from './encoding.ts';
import { BEGIN, type BeginMeta, CALLER_PART, ENGINE_PART, type EndMeta, type HeadMeta, type PartMeta, type RequestMeta } from './record.ts';
import type { Found } from './segments.ts';

/** As many marks as this are worth a body of their own. */
const MARKS_INLINE = 400;
const EMPTY = Buffer.alloc(0);
export interface Assembly {
  readonly run: RunId;
  readonly node: string;
  readonly redactor: Redactor;
}

/** The recording that a run's records make, in the order they were written; undefined when they do not say how it began. */
export function assemble(records: readonly Found[], { run, node, redactor }: Assembly): NewRecording | undefined {
  const begun = records.findLast(({ header }) => header.kind === BEGIN);
  if (begun === undefined) return undefined;
  const keep = new Keeping(redactor);
  const meta = metaOf<BeginMeta>(begun);
  const request = keep.request(meta.request, bodyOf(begun).subarray(0, meta.request.bytes));
  const sent = meta.sent === null ? null : keep.request(meta.sent, bodyOf(begun).subarray(meta.request.bytes));
  const response = answerOf(records, ENGINE_PART, keep);
  const delivered = answerOf(records, CALLER_PART, keep);
  const last = delivered ?? response;
  const recording: Recording = {
    runId: run,
    node,
    startedAt: meta.startedAt,
    keyId: meta.keyId,
    tags: meta.tags.map((tag) => redactor.text(tag)),
    engine: meta.engine,
    model: meta.model === null ? null : redactor.text(meta.model),
    request,
    sent,
    response,
    delivered,
    redacted: keep.redacted,
    replayable: !keep.redacted && last?.complete === true,
  };
  return { recording, bodies: keep.bodies };
}

/** Journals are ours alone, so what they hold is trusted; what is no JSON is a fault worth stopping for. */
function metaOf<T extends BeginMeta | PartMeta>({ header, payload }: Found): T {
  const parsed = parseJson(payload.toString('utf8', 0, header.metaBytes));
  if (!parsed.ok) throw new AbpError('internal', `a record of ${header.run} is damaged: ${parsed.message}`);
  return parsed.value as unknown as T; // written by encodeRecord from that type
}

function bodyOf({ header, payload }: Found): Buffer {
  return payload.subarray(header.metaBytes);
}

/** One answer, put together from its parts. */
function answerOf(records: readonly Found[], kind: typeof ENGINE_PART | typeof CALLER_PART, keep: Keeping): RecordedAnswer | null {
  const all = records
    .filter(({ header }) => header.kind === kind)
    .map((record) => ({ ...metaOf<PartMeta>(record), bytes: bodyOf(record) }));
  // Where another engine was asked, what the first one said was not delivered.
  const parts = all.slice(all.findLastIndex(({ head }) => head !== undefined));
  const head = parts[0]?.head;
  if (head === undefined) return null;
  const end = endOf(records);
  return keep.answer({
    head,
    trailers: parts.findLast(({ trailers }) => trailers !== undefined)?.trailers ?? [],
    marks: parts.flatMap(({ marks }) => marks),
    bytes: parts.length === 1 ? (parts[0]?.bytes ?? EMPTY) : Buffer.concat(parts.map(({ bytes }) => bytes)),
    end: kind === ENGINE_PART ? end : undefined,
    whole: end !== undefined && !(kind === ENGINE_PART && end.cut),
  });
}

/** How the engine's answer ended, if it did. */
function endOf(records: readonly Found[]): EndMeta | undefined {
  const last = records.at(-1);
  const end = last?.header.last === true ? metaOf<PartMeta>(last).end : undefined;
  return end?.complete === true ? end : undefined;
}

interface Answer {
  readonly head: HeadMeta;
  readonly trailers: readonly string[];
  readonly marks: readonly number[];
  readonly bytes: Buffer;
  /** Digest of the bytes, where it is known. */
  readonly end: EndMeta | undefined;
  readonly whole: boolean;
}

/** Gathers the bodies of a run: exactly, or without their secrets and marked so. */
class Keeping {
  readonly bodies = new Map<string, Buffer>();
  readonly #redactor: Redactor;
  redacted = false;

  constructor(redactor: Redactor) {
    this.#redactor = redactor;
  }

  request({ dialect, method, path, headers, sha256: digest }: RequestMeta, bytes: Buffer): RecordedRequest {
    return {
      dialect,
      method,
      path: this.#redactor.text(path),
      headers: this.#redactor.headers(headers),
      body: this.#body(bytes, headers, digest),
    };
  }

  answer({ head, trailers, marks, bytes, end, whole }: Answer): RecordedAnswer {
    // Shorter than the engine's answer was: a part did not reach the disk, or it was too large.
    const exact = end === undefined || end.bytes === bytes.length;
    const body = this.#body(bytes, head.headers, exact ? (end?.sha256 ?? undefined) : undefined);
    return {
      status: head.status,
      headers: this.#redactor.headers(head.headers),
      trailers: this.#redactor.headers(trailers),
      headUs: head.us,
      body,
      marks: marks.length <= MARKS_INLINE ? marks : this.#add(Buffer.from(JSON.stringify(marks))),
      complete: whole && exact,
    };
  }

  #body(bytes: Buffer, headers: readonly string[], digest: string | undefined): BodyDigest {
    const readable = decodedBody(bytes, headers);
    if (!this.#redactor.holdsSecret(readable)) return this.#add(bytes, digest);
    this.redacted = true;
    return this.#add(this.#redactor.body(readable));
  }

  #add(bytes: Buffer, known?: string): BodyDigest {
    const digest = known ?? sha256(bytes);
    if (bytes.length > 0) this.bodies.set(digest, bytes);
    return { sha256: digest, bytes: bytes.length };
  }
}
