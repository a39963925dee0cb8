import { isUtf8 } from 'node:buffer';
import { isoTime } from '../../base/clock.ts';
import { parseJson } from '../../base/json.ts';
import type { AnswerText, BodyText, RecordingLine, RequestText } from '../../contract/receipts/recording.ts';
import { RECORDING_FORMAT } from '../../contract/receipts/recording.ts';
import type { BodyShelf } from './body-shelf.ts';
import { isDigest, type RecordedAnswer, type RecordedRequest, type Recording } from './recording.ts';

/** A chunk and when it came. */
export interface Chunk {
  readonly bytes: Buffer;
  readonly atUs: number;
}

/** The recording with its bodies; undefined when they are gone. */
export async function lineOf(shelf: BodyShelf, recording: Recording): Promise<RecordingLine | undefined> {
  const { runId, startedAt, engine, model, replayable, redacted, sent, response, delivered } = recording;
  const request = await requestText(shelf, recording.request);
  const parts = {
    sent: sent === null ? null : await requestText(shelf, sent),
    response: response === null ? null : await answerText(shelf, response),
    delivered: delivered === null ? null : await answerText(shelf, delivered),
  };
  if (request === undefined || parts.sent === undefined || parts.response === undefined || parts.delivered === undefined) return undefined;
  return {
    format: RECORDING_FORMAT,
    run_id: runId,
    started_at: isoTime(startedAt),
    engine,
    model,
    replayable,
    redacted,
    request,
    sent: parts.sent,
    response: parts.response,
    delivered: parts.delivered,
  };
}

async function requestText(shelf: BodyShelf, request: RecordedRequest): Promise<RequestText | undefined> {
  const body = await shelf.read(request.body);
  if (body === undefined) return undefined;
  const { dialect, method, path, headers } = request;
  return { dialect, method, path, headers: pairsOf(headers), body: bodyText(body) };
}

async function answerText(shelf: BodyShelf, answer: RecordedAnswer): Promise<AnswerText | undefined> {
  const chunks = await chunksOf(shelf, answer);
  if (chunks === undefined) return undefined;
  const { status, headers, trailers, headUs, complete } = answer;
  return {
    status,
    headers: pairsOf(headers),
    trailers: pairsOf(trailers),
    at_us: headUs,
    complete,
    chunks: chunks.map(({ bytes, atUs }) => ({ at_us: atUs, ...bodyText(bytes) })),
  };
}

/** The answer in the pieces in which it came. A body from which a secret was removed is one piece. */
export async function chunksOf(shelf: BodyShelf, answer: RecordedAnswer): Promise<Chunk[] | undefined> {
  const body = await shelf.read(answer.body);
  const listed = isDigest(answer.marks) ? await shelf.read(answer.marks) : undefined;
  if (body === undefined || (isDigest(answer.marks) && listed === undefined)) return undefined;
  const marks = isDigest(answer.marks) ? numbersOf(listed?.toString('utf8') ?? '[]') : answer.marks;
  return cut(body, marks);
}

function cut(body: Buffer, marks: readonly number[]): Chunk[] {
  const chunks: Chunk[] = [];
  let start = 0;
  for (let at = 0; at + 1 < marks.length; at += 2) {
    const end = start + (marks[at] ?? 0);
    chunks.push({ bytes: body.subarray(start, end), atUs: marks[at + 1] ?? 0 });
    start = end;
  }
  return start === body.length ? chunks : [{ bytes: body, atUs: marks.at(-1) ?? 0 }];
}

function numbersOf(text: string): number[] {
  const parsed = parseJson(text);
  return parsed.ok && Array.isArray(parsed.value) ? parsed.value.map(Number) : [];
}

function bodyText(bytes: Buffer): BodyText {
  return isUtf8(bytes) ? { text: bytes.toString('utf8') } : { base64: bytes.toString('base64') };
}

export function bytesOf(body: BodyText): Buffer {
  return 'text' in body ? Buffer.from(body.text, 'utf8') : Buffer.from(body.base64, 'base64');
}

function pairsOf(flat: readonly string[]): [string, string][] {
  const pairs: [string, string][] = [];
  for (let at = 0; at < flat.length; at += 2) pairs.push([flat[at] ?? '', flat[at + 1] ?? '']);
  return pairs;
}
