import { isUtf8 } from 'node:buffer';
import { StringDecoder } from 'node:string_decoder';
import { Slices } from '../../base/bounded/turns.ts';
import { isoTime } from '../../base/clock.ts';
import type { AnswerText, BodyText, RequestText } from '../../contract/receipts/recording.ts';
import { RECORDING_FORMAT } from '../../contract/receipts/recording.ts';
import type { BodyShelf } from './body-shelf.ts';
import { isDigest, type RecordedAnswer, type RecordedRequest, type Recording } from './recording.ts';

/** A chunk and when it came. */
export interface Chunk {
  readonly bytes: Buffer;
  readonly atUs: number;
}

/** So much of a line is written at once. A multiple of three, so that pieces of base64 need no filling. */
const PIECE = 384 * 1024;
/** So many numbers of a list are read before the clock is looked at. */
const SOME_NUMBERS = 1000;

/**
 * The recording with its bodies as JSON text, in pieces: many megabytes, or many thousand chunks, are not written while others wait, and
 * of a line no more than a piece is held beside the bodies. Undefined when they are gone.
 */
export async function lineText(shelf: BodyShelf, recording: Recording): Promise<AsyncGenerator<string> | undefined> {
  const { runId, startedAt, engine, model, replayable, redacted } = recording;
  const parts = await readAll(shelf, recording);
  if (parts === undefined) return undefined;
  const head = { format: RECORDING_FORMAT, run_id: runId, started_at: isoTime(startedAt), engine, model, replayable, redacted };
  return inPieces(line(head, parts));
}

/** A recording, read as a whole before the first byte of its line is written, so that a missing body cannot leave half a line. */
interface Parts {
  readonly request: { readonly of: RecordedRequest; readonly body: Buffer };
  readonly sent: Parts['request'] | null;
  readonly response: { readonly of: RecordedAnswer; readonly body: Buffer; readonly marks: ArrayLike<number> } | null;
  readonly delivered: Parts['response'];
}

async function readAll(shelf: BodyShelf, { request, sent, response, delivered }: Recording): Promise<Parts | undefined> {
  const asked = await requestOf(shelf, request);
  const passed = sent === null ? null : await requestOf(shelf, sent);
  const answered = response === null ? null : await answerOf(shelf, response);
  const told = delivered === null ? null : await answerOf(shelf, delivered);
  if (asked === undefined || passed === undefined || answered === undefined || told === undefined) return undefined;
  return { request: asked, sent: passed, response: answered, delivered: told };
}

async function requestOf(shelf: BodyShelf, of: RecordedRequest): Promise<Parts['request'] | undefined> {
  const body = await shelf.read(of.body);
  return body === undefined ? undefined : { of, body };
}

async function answerOf(shelf: BodyShelf, of: RecordedAnswer): Promise<NonNullable<Parts['response']> | undefined> {
  const body = await shelf.read(of.body);
  const marks = await marksOf(shelf, of);
  return body === undefined || marks === undefined ? undefined : { of, body, marks };
}

/** The members of a line in the order of the contract, as texts of any length. */
function* line(head: object, { request, sent, response, delivered }: Parts): Generator<string> {
  yield `${JSON.stringify(head).slice(0, -1)},"request":`;
  yield* requestText(request);
  yield ',"sent":';
  yield* sent === null ? ['null'] : requestText(sent);
  yield ',"response":';
  yield* response === null ? ['null'] : answerText(response);
  yield ',"delivered":';
  yield* delivered === null ? ['null'] : answerText(delivered);
  yield '}';
}

/** Joins short texts, so that each piece is worth its way. */
async function* inPieces(texts: Iterable<string>): AsyncGenerator<string> {
  const slices = new Slices();
  let piece = '';
  for (const text of texts) {
    piece += text;
    if (piece.length >= PIECE) {
      yield piece;
      piece = '';
    } else if (!slices.over) continue;
    await slices.next();
  }
  yield piece;
}

function* requestText({ of: { dialect, method, path, headers }, body }: Parts['request']): Generator<string> {
  const head: Omit<RequestText, 'body'> = { dialect, method, path, headers: pairsOf(headers) };
  yield `${JSON.stringify(head).slice(0, -1)},"body":{`;
  yield* bodyText(body);
  yield '}}';
}

function* answerText({ of, body, marks }: NonNullable<Parts['response']>): Generator<string> {
  const { status, headers, trailers, headUs, complete } = of;
  const head: Omit<AnswerText, 'chunks'> = { status, headers: pairsOf(headers), trailers: pairsOf(trailers), at_us: headUs, complete };
  yield `${JSON.stringify(head).slice(0, -1)},"chunks":[`;
  let first = true;
  for (const { bytes, atUs } of cut(body, marks)) {
    yield `${first ? '' : ','}{"at_us":${atUs},`;
    yield* bodyText(bytes);
    yield '}';
    first = false;
  }
  yield ']}';
}

/** The one member of a body, without its braces. */
function* bodyText(bytes: Buffer): Generator<string> {
  const encoding = isUtf8(bytes) ? 'utf8' : 'base64';
  yield encoding === 'utf8' ? '"text":"' : '"base64":"';
  const decoder = new StringDecoder(encoding);
  for (let from = 0; from < bytes.length; from += PIECE)
    yield JSON.stringify(decoder.write(bytes.subarray(from, from + PIECE))).slice(1, -1);
  yield `${decoder.end()}"`;
}

/** The answer in the pieces in which it came. A body from which a secret was removed is one piece. */
export async function chunksOf(shelf: BodyShelf, answer: RecordedAnswer): Promise<Chunk[] | undefined> {
  const body = await shelf.read(answer.body);
  const marks = await marksOf(shelf, answer);
  return body === undefined || marks === undefined ? undefined : [...cut(body, marks)];
}

/** Lengths of the chunks and when each came, in turns. */
async function marksOf(shelf: BodyShelf, { marks }: RecordedAnswer): Promise<ArrayLike<number> | undefined> {
  if (!isDigest(marks)) return marks;
  const listed = await shelf.read(marks);
  return listed === undefined ? undefined : await numbersIn(listed);
}

function* cut(body: Buffer, marks: ArrayLike<number>): Generator<Chunk> {
  let whole = 0;
  for (let at = 0; at + 1 < marks.length; at += 2) whole += marks[at] ?? 0;
  if (whole !== body.length) {
    yield { bytes: body, atUs: marks[marks.length - 1] ?? 0 };
    return;
  }
  let start = 0;
  for (let at = 0; at + 1 < marks.length; at += 2) {
    const end = start + (marks[at] ?? 0);
    yield { bytes: body.subarray(start, end), atUs: marks[at + 1] ?? 0 };
    start = end;
  }
}

const [COMMA, CLOSING] = [0x2c, 0x5d];

/** A JSON list of numbers that we wrote, which may hold a million: read number by number, in turns. */
async function numbersIn(listed: Buffer): Promise<Float64Array> {
  const slices = new Slices();
  let numbers = new Float64Array(1024);
  let count = 0;
  let from = 1;
  for (let at = 1; at < listed.length; at += 1) {
    if (listed[at] !== COMMA && listed[at] !== CLOSING) continue;
    if (at > from) {
      if (count === numbers.length) {
        const larger = new Float64Array(count * 2);
        larger.set(numbers);
        numbers = larger;
      }
      numbers[count] = Number(listed.toString('latin1', from, at));
      count += 1;
      if (count % SOME_NUMBERS === 0 && slices.over) await slices.next();
    }
    from = at + 1;
  }
  return numbers.subarray(0, count);
}

export function bytesOf(body: BodyText): Buffer {
  return 'text' in body ? Buffer.from(body.text, 'utf8') : Buffer.from(body.base64, 'base64');
}

function pairsOf(flat: readonly string[]): [string, string][] {
  const pairs: [string, string][] = [];
  for (let at = 0; at < flat.length; at += 2) pairs.push([flat[at] ?? '', flat[at + 1] ?? '']);
  return pairs;
}
