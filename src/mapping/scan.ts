import { AbpError } from '../contract/errors.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const COLON = 0x3a;
const COMMA = 0x2c;

/** Where a value stands in the body, `end` exclusive. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

interface NamedSpan extends Span {
  readonly name: string;
}

/** Longer names of models are refused: no vendor has one, and a name is looked up, matched and written down. */
const LONGEST_MODEL = 512;
/** No request of a vendor has more than some dozen members. */
const MOST_MEMBERS = 1000;

/** What routing needs of a body, found without parsing it. */
export interface Scan {
  readonly model?: string;
  /** Span of the model's string including its quotes, for a splice. */
  readonly modelSpan?: Span;
  readonly stream: boolean;
  /** Members that may name further models. */
  readonly naming: readonly NamedSpan[];
}

/** Members in which vendors take models beside `model`: fallbacks, a stored prompt, tools that work with a model of their own. */
const NAMING: ReadonlySet<string> = new Set(['models', 'fallback', 'fallbacks', 'fallback_model', 'fallback_models', 'prompt', 'tools']);

/**
 * Walks the top-level members of a JSON object and reads `model` and `stream`. Values are skipped, not parsed: an unknown field of
 * tomorrow costs a byte scan. Keys are compared decoded, and a repeated key is refused, because two readers could pick different ones.
 */
export function scanBody(body: Buffer): Scan {
  let at = skipSpace(body, 0);
  if (body[at] !== OPEN_BRACE) throw malformed('the body is not a JSON object');
  at = skipSpace(body, at + 1);
  const seen = new Set<string>();
  const found: { model?: string; modelSpan?: Span; stream: boolean; naming: NamedSpan[] } = { stream: false, naming: [] };
  if (body[at] === CLOSE_BRACE) return endOf(body, at, found);
  for (;;) {
    const key = readKey(body, at, seen);
    const start = skipSpace(body, key.end);
    const end = skipValue(body, start);
    if (key.name === 'model' && body[start] === QUOTE) {
      found.model = readModel(body, start, end);
      found.modelSpan = { start, end };
    } else if (key.name === 'stream') found.stream = body.toString('latin1', start, end) === 'true';
    else if (NAMING.has(key.name)) found.naming.push({ name: key.name, start, end });
    at = skipSpace(body, end);
    if (body[at] === CLOSE_BRACE) return endOf(body, at, found);
    if (body[at] !== COMMA) throw malformed(`unexpected byte at offset ${at}`);
    at = skipSpace(body, at + 1);
  }
}

/** The body with another model name; every other byte stays. */
export function spliceModel(body: Buffer, span: Span, model: string): Buffer {
  return Buffer.concat([body.subarray(0, span.start), Buffer.from(JSON.stringify(model), 'utf8'), body.subarray(span.end)]);
}

function endOf(body: Buffer, at: number, found: Scan): Scan {
  if (skipSpace(body, at + 1) !== body.length) throw malformed('there is text after the JSON object');
  return found;
}

function readKey(body: Buffer, at: number, seen: Set<string>): { name: string; end: number } {
  if (body[at] !== QUOTE) throw malformed(`a member name is expected at offset ${at}`);
  const end = skipString(body, at);
  const name = decode(body, at, end);
  if (seen.has(name)) throw malformed(`the member "${name}" is repeated`);
  if (seen.add(name).size > MOST_MEMBERS) throw malformed(`it has more than ${MOST_MEMBERS} members`);
  const colon = skipSpace(body, end);
  if (body[colon] !== COLON) throw malformed(`a colon is expected at offset ${colon}`);
  return { name, end: colon + 1 };
}

function decode(body: Buffer, start: number, end: number): string {
  const inner = body.toString('utf8', start + 1, end - 1);
  if (!inner.includes('\\')) return inner;
  return inner.replace(/\\(?:u([0-9a-fA-F]{4})|(.))/g, (_all, hex: string | undefined, char: string | undefined) =>
    hex === undefined ? (ESCAPES[char ?? ''] ?? char ?? '') : String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' };

function skipSpace(body: Buffer, from: number): number {
  let at = from;
  for (let byte = body[at]; byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09; byte = body[at]) at += 1;
  return at;
}

/** Most strings of a request are shorter. */
const SHORT = 48;
/** A long string is searched as text, in pieces that grow: that is three times as fast as looking at each byte. */
const FIRST_PIECE = 1024;
const PIECE = 16 * 1024;

/** Offset after the string that starts at `from`. */
function skipString(body: Buffer, from: number): number {
  const near = Math.min(from + SHORT, body.length);
  let at = from + 1;
  while (at < near) {
    const byte = body[at];
    if (byte === QUOTE) return at + 1;
    at += byte === BACKSLASH ? 2 : 1;
  }
  return skipLong(body, at);
}

/** Offset after the string that `from` is in the middle of. */
function skipLong(body: Buffer, from: number): number {
  let size = FIRST_PIECE;
  for (let start = from, next = from; start < body.length; start = next) {
    next = start + size;
    size = Math.min(size * 4, PIECE);
    const piece = body.toString('latin1', start, next);
    for (let quote = piece.indexOf('"'); quote !== -1; quote = piece.indexOf('"', quote + 1)) {
      if (!isEscaped(body, start + quote, from)) return start + quote + 1;
    }
  }
  throw malformed('a string is not closed');
}

/** Whether an odd number of backslashes stands before the quote; they begin at `from` at the earliest. */
function isEscaped(body: Buffer, quote: number, from: number): boolean {
  let at = quote;
  while (at > from && body[at - 1] === BACKSLASH) at -= 1;
  return (quote - at) % 2 === 1;
}

function skipValue(body: Buffer, from: number): number {
  const first = body[from];
  if (first === QUOTE) return skipString(body, from);
  if (first === OPEN_BRACE || first === OPEN_BRACKET) return skipNested(body, from);
  return skipScalar(body, from);
}

function skipScalar(body: Buffer, from: number): number {
  let at = from;
  for (let byte = body[at]; byte !== undefined && isScalarByte(byte); byte = body[at]) at += 1;
  const text = body.toString('latin1', from, at);
  if (!/^(?:true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)$/.test(text))
    throw malformed(`unexpected value at offset ${from}`);
  return at;
}

function isScalarByte(byte: number): boolean {
  return (
    (byte >= 0x30 && byte <= 0x39) || (byte >= 0x61 && byte <= 0x7a) || byte === 0x2d || byte === 0x2b || byte === 0x2e || byte === 0x45
  );
}

/** Deeper bodies are attacks on recursive readers; no vendor's request comes near. */
const MOST_NESTED = 1000;

/** Brackets are balanced by kind; what is inside is the engine's to judge. */
function skipNested(body: Buffer, from: number): number {
  const open: number[] = [];
  for (let at = from; at < body.length; at += 1) {
    const byte = body[at];
    if (byte === QUOTE) at = skipString(body, at) - 1;
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) enter(open, byte);
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      leave(open, byte, at);
      if (open.length === 0) return at + 1;
    }
  }
  throw malformed('the body ends inside a value');
}

function enter(open: number[], byte: number): void {
  if (open.push(byte) > MOST_NESTED) throw malformed(`values are nested deeper than ${MOST_NESTED} levels`);
}

function leave(open: number[], byte: number, at: number): void {
  // In ASCII each closing bracket is its opening one plus two.
  if (open.pop() !== byte - 2) throw malformed(`a bracket does not match at offset ${at}`);
}

function readModel(body: Buffer, start: number, end: number): string {
  // An escape takes six bytes for one character.
  const name = end - start > 6 * LONGEST_MODEL + 2 ? undefined : decode(body, start, end);
  if (name !== undefined && name.length <= LONGEST_MODEL) return name;
  throw new AbpError('invalid_request', `The name of the model is longer than ${LONGEST_MODEL} characters.`);
}

function malformed(message: string): AbpError {
  return new AbpError('invalid_request', `The request body is not valid JSON: ${message}.`);
}
