import { isUtf8 } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import { StringDecoder } from 'node:string_decoder';
import { ownTurn } from '../../base/bounded/turns.ts';
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

/** How bytes of a body are written. */
type Writer = (bytes: Buffer) => BodyText;

/** The recording with its bodies as JSON text, in pieces: many megabytes are not written while others wait. Undefined when they are gone. */
export async function lineText(shelf: BodyShelf, recording: Recording): Promise<AsyncGenerator<string> | undefined> {
  const large: { readonly mark: string; readonly bytes: Buffer; readonly encoding: 'utf8' | 'base64' }[] = [];
  let written = 0;
  const line = await lineOf(shelf, recording, (bytes) => {
    written += bytes.length;
    if (written <= PIECE || bytes.length < SMALL) return bodyText(bytes);
    // Nothing else in the line is this text.
    const mark = randomUUID();
    const encoding = isUtf8(bytes) ? 'utf8' : 'base64';
    large.push({ mark, bytes, encoding });
    return encoding === 'utf8' ? { text: mark } : { base64: mark };
  });
  return line === undefined ? undefined : piecesOf(JSON.stringify(line), large);
}

/** A multiple of three, so that pieces of base64 need no filling. */
const PIECE = 768 * 1024;
/** A mark for less is not worth it. */
const SMALL = 1024;

async function* piecesOf(
  text: string,
  large: readonly { readonly mark: string; readonly bytes: Buffer; readonly encoding: 'utf8' | 'base64' }[],
): AsyncGenerator<string> {
  let written = 0;
  // In the order in which they stand in the line.
  const places = large.map((body) => ({ ...body, at: text.indexOf(body.mark) })).toSorted((one, other) => one.at - other.at);
  for (const { mark, bytes, encoding, at } of places) {
    yield text.slice(written, at);
    written = at + mark.length;
    const decoder = new StringDecoder(encoding);
    for (let from = 0; from < bytes.length; from += PIECE) {
      await ownTurn();
      yield JSON.stringify(decoder.write(bytes.subarray(from, from + PIECE))).slice(1, -1);
    }
    yield decoder.end();
  }
  yield text.slice(written);
}

/** The recording with its bodies; undefined when they are gone. */
async function lineOf(shelf: BodyShelf, recording: Recording, write: Writer): Promise<RecordingLine | undefined> {
  const { runId, startedAt, engine, model, replayable, redacted, sent, response, delivered } = recording;
  const request = await requestText(shelf, recording.request, write);
  const parts = {
    sent: sent === null ? null : await requestText(shelf, sent, write),
    response: response === null ? null : await answerText(shelf, response, write),
    delivered: delivered === null ? null : await answerText(shelf, delivered, write),
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

async function requestText(shelf: BodyShelf, request: RecordedRequest, write: Writer): Promise<RequestText | undefined> {
  const body = await shelf.read(request.body);
  if (body === undefined) return undefined;
  const { dialect, method, path, headers } = request;
  return { dialect, method, path, headers: pairsOf(headers), body: write(body) };
}

async function answerText(shelf: BodyShelf, answer: RecordedAnswer, write: Writer): Promise<AnswerText | undefined> {
  const chunks = await chunksOf(shelf, answer);
  if (chunks === undefined) return undefined;
  const { status, headers, trailers, headUs, complete } = answer;
  return {
    status,
    headers: pairsOf(headers),
    trailers: pairsOf(trailers),
    at_us: headUs,
    complete,
    chunks: chunks.map(({ bytes, atUs }) => ({ at_us: atUs, ...write(bytes) })),
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
