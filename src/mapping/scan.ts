import { setImmediate } from 'node:timers/promises';
import { isJsonObject, parseJson } from '../base/json.ts';
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

/** Members of a body that routing needs, found without parsing it. */
export interface Scan {
  readonly model?: string;
  /** Span of the model's string including its quotes, for a splice. */
  readonly modelSpan?: Span;
  readonly stream: boolean;
  /** Members that may name further models. */
  readonly naming: readonly NamedSpan[];
  /** Members that limit the answer. */
  readonly bounding: readonly NamedSpan[];
  /** How many values it holds, by their commas and brackets: what it takes to read them goes by that as much as by the bytes. */
  readonly values: number;
}

/** Members in which vendors take models beside `model`: fallbacks, a stored prompt, tools that work with a model of their own. */
const NAMING: ReadonlySet<string> = new Set(
  ['models', 'fallback', 'fallbacks', 'fallback_model', 'fallback_models', 'draft_model', 'prompt', 'tools', 'plugins'].concat(
    'context_management',
    'generateContentRequest',
  ),
);

/** Members in which vendors take the most tokens that an answer may have. */
const BOUNDING: ReadonlySet<string> = new Set([
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
  'generationConfig',
  'generation_config',
]);

/**
 * Walks the top-level members of a JSON object and reads `model` and `stream`. Values are skipped, not parsed: an unknown field of
 * tomorrow costs a byte scan. Keys are compared decoded, and a repeated key is refused, because two readers could pick different ones.
 */
export function scanBody(body: Buffer): Scan {
  const scanner = new Scanner(body);
  scanner.goOn(body.length);
  return scanner.found;
}

/** As much as is scanned before others have their turn: some milliseconds, whatever the bytes are. */
const SLICE = 512 * 1024;

/** The same for a large body, in slices between which other calls have their turn. `naming`: the members to tell the places of. */
export async function scanInTurns(body: Buffer, naming: ReadonlySet<string> = NAMING): Promise<Scan> {
  const scanner = new Scanner(body, naming);
  while (!scanner.goOn(SLICE)) await setImmediate();
  return scanner.found;
}

/** A scan that can stop inside a value and go on later. */
class Scanner {
  readonly #body: Buffer;
  readonly #naming: ReadonlySet<string>;
  readonly #found: { model?: string; modelSpan?: Span; stream: boolean; naming: NamedSpan[]; bounding: NamedSpan[] } = {
    stream: false,
    naming: [],
    bounding: [],
  };
  readonly #seen = new Set<string>();
  #values = 0;
  #at: number;
  /** The value that the scan is in. */
  #inside: { readonly name: string; readonly start: number; readonly skip: Skip } | undefined;

  constructor(body: Buffer, naming = NAMING) {
    this.#body = body;
    this.#naming = naming;
    const open = skipSpace(body, 0);
    if (body[open] !== OPEN_BRACE) throw malformed('the body is not a JSON object');
    this.#at = skipSpace(body, open + 1);
  }

  get found(): Scan {
    return { ...this.#found, values: this.#values };
  }

  /** Scans some more bytes; true when the end was reached. */
  goOn(bytes: number): boolean {
    const body = this.#body;
    const until = this.#at + bytes;
    for (;;) {
      if (this.#inside === undefined) {
        if (this.#seen.size === 0 && body[this.#at] === CLOSE_BRACE) return this.#end();
        const key = readKey(body, this.#at, this.#seen);
        const start = skipSpace(body, key.end);
        this.#inside = { name: key.name, start, skip: new Skip(body, start) };
      }
      const { name, start, skip } = this.#inside;
      if (!skip.goOn(until)) {
        this.#at = skip.at;
        return false;
      }
      this.#inside = undefined;
      this.#values += skip.values;
      this.#take(name, start, skip.at);
      this.#at = skipSpace(body, skip.at);
      if (body[this.#at] === CLOSE_BRACE) return this.#end();
      if (body[this.#at] !== COMMA) throw malformed(`unexpected byte at offset ${this.#at}`);
      this.#at = skipSpace(body, this.#at + 1);
    }
  }

  #take(name: string, start: number, end: number): void {
    if (name === 'model' && this.#body[start] === QUOTE) {
      this.#found.model = readModel(this.#body, start, end);
      this.#found.modelSpan = { start, end };
    } else if (name === 'stream') this.#found.stream = this.#body.toString('latin1', start, end) === 'true';
    else if (this.#naming.has(name)) this.#found.naming.push({ name, start, end });
    else if (BOUNDING.has(name)) this.#found.bounding.push({ name, start, end });
  }

  #end(): true {
    if (skipSpace(this.#body, this.#at + 1) !== this.#body.length) throw malformed('there is text after the JSON object');
    return true;
  }
}

/** The body with another model name; every other byte stays. */
export function spliceModel(body: Buffer, span: Span, model: string): Buffer {
  return Buffer.concat([body.subarray(0, span.start), Buffer.from(JSON.stringify(model), 'utf8'), body.subarray(span.end)]);
}

/** A description of how to answer is not longer. */
const LONGEST_BOUND = 4096;

/** The most tokens that the body allows the answer; undefined where it does not say. */
export function outputBound(body: Buffer, { bounding }: Pick<Scan, 'bounding'>): number | undefined {
  for (const { start, end } of bounding) {
    const parsed = end - start > LONGEST_BOUND ? undefined : parseJson(body.toString('utf8', start, end));
    const value = parsed?.ok === true ? parsed.value : undefined;
    const bound = isJsonObject(value) ? (value.maxOutputTokens ?? value.max_output_tokens) : value;
    if (typeof bound === 'number' && bound > 0) return bound;
  }
  return undefined;
}

/** No member of a request has a longer name. */
const LONGEST_NAME = 4096;

function readKey(body: Buffer, at: number, seen: Set<string>): { name: string; end: number } {
  if (body[at] !== QUOTE) throw malformed(`a member name is expected at offset ${at}`);
  const end = nameEnd(body, at);
  const name = decode(body, at, end);
  if (seen.has(name)) throw malformed(`the member "${name}" is repeated`);
  if (seen.add(name).size > MOST_MEMBERS) throw malformed(`it has more than ${MOST_MEMBERS} members`);
  const colon = skipSpace(body, end);
  if (body[colon] !== COLON) throw malformed(`a colon is expected at offset ${colon}`);
  return { name, end: colon + 1 };
}

function nameEnd(body: Buffer, from: number): number {
  const short = shortEnd(body, from);
  const end = short > 0 ? short : longEnd(body, -short, from + LONGEST_NAME);
  if (end < 0) throw malformed(`a member name is longer than ${LONGEST_NAME} bytes`);
  return end;
}

function decode(body: Buffer, start: number, end: number): string {
  const inner = body.toString('utf8', start + 1, end - 1);
  if (!inner.includes('\\')) return inner;
  return inner.replace(/\\(?:u([0-9a-fA-F]{4})|(.))/g, (_all, hex: string | undefined, char: string | undefined) =>
    hex === undefined ? (ESCAPES[char ?? ''] ?? char ?? '') : String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' };

/** Between two members nobody writes more white space. */
const MOST_SPACE = 64 * 1024;

function skipSpace(body: Buffer, from: number): number {
  let at = from;
  for (let byte = body[at]; byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09; byte = body[at]) {
    at += 1;
    if (at - from > MOST_SPACE) throw malformed(`there are more than ${MOST_SPACE} bytes of white space at offset ${from}`);
  }
  return at;
}

/** Most strings of a request are shorter. */
const SHORT = 48;
/** A long string is searched as text, in pieces that grow: that is three times as fast as looking at each byte. */
const FIRST_PIECE = 1024;
const PIECE = 16 * 1024;

/** Passes over one value. Brackets are balanced by kind; what is inside is the engine's to judge. */
class Skip {
  readonly #body: Buffer;
  readonly #open: number[] = [];
  /** Where the search for the end of a long string goes on. */
  #string: number | undefined;
  #begun = false;
  at: number;
  values = 1;

  constructor(body: Buffer, from: number) {
    this.#body = body;
    this.at = from;
  }

  /** Goes on to the end of the value, or to that offset; true when the end was reached. */
  goOn(until: number): boolean {
    if (!this.#begun) this.#begin();
    for (;;) {
      if (this.#string !== undefined && !this.#closeString(this.#string, until)) return false;
      if (this.#open.length === 0) return true;
      if (!this.#walk(until)) return false;
    }
  }

  #begin(): void {
    this.#begun = true;
    const first = this.#body[this.at];
    if (first === QUOTE) this.at = this.#openString(this.at);
    else if (first === OPEN_BRACE || first === OPEN_BRACKET) {
      this.#open.push(first);
      this.at += 1;
    } else this.at = skipScalar(this.#body, this.at);
  }

  /** Inside brackets, to the last of them or to a long string; false where it stops before. */
  #walk(until: number): boolean {
    const body = this.#body;
    let at = this.at;
    for (const end = Math.min(until, body.length); at < end; at += 1) {
      const byte = body[at];
      if (byte === QUOTE) {
        at = this.#openString(at) - 1;
        if (this.#string !== undefined) return true;
      } else if (byte === COMMA) this.values += 1;
      else if (byte !== undefined && byte >= OPEN_BRACKET && this.#bracket(byte, at)) {
        this.at = at + 1;
        return true;
      }
    }
    if (at >= body.length) throw malformed('the body ends inside a value');
    this.at = at;
    return false;
  }

  /** Whether this byte closes the last bracket. */
  #bracket(byte: number, at: number): boolean {
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      enter(this.#open, byte);
      this.values += 1;
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      leave(this.#open, byte, at);
      return this.#open.length === 0;
    }
    return false;
  }

  /** Offset after the string that starts at `from`; a long one is left to `#closeString`. */
  #openString(from: number): number {
    const end = shortEnd(this.#body, from);
    if (end > 0) return end;
    this.#string = -end;
    return -end;
  }

  #closeString(from: number, until: number): boolean {
    const end = longEnd(this.#body, from, until);
    this.at = Math.abs(end);
    this.#string = end > 0 ? undefined : -end;
    return end > 0;
  }
}

/** Offset after the string that starts at `from`, or where it was given up, negative. */
function shortEnd(body: Buffer, from: number): number {
  const near = Math.min(from + SHORT, body.length);
  let at = from + 1;
  while (at < near) {
    const byte = body[at];
    if (byte === QUOTE) return at + 1;
    at += byte === BACKSLASH ? 2 : 1;
  }
  return -at;
}

/** A piece with more quotes is read byte by byte: looking for each of them would take longer. */
const MOST_QUOTES = 1024;

/** Offset after the string that `from` is in the middle of, or where the search was given up, negative. No piece begins inside an escape. */
function longEnd(body: Buffer, from: number, until: number): number {
  let size = FIRST_PIECE;
  let start = from;
  while (start < body.length && start < until) {
    const end = endInPiece(body, start, Math.min(start + size, body.length));
    if (end > 0) return end;
    size = Math.min(size * 4, PIECE);
    start = -end;
  }
  if (start >= body.length) throw malformed('a string is not closed');
  return -start;
}

/** Offset after the string where it ends in this piece, or where the next piece begins, negative. */
function endInPiece(body: Buffer, start: number, next: number): number {
  const piece = body.toString('latin1', start, next);
  let quotes = 0;
  for (let quote = piece.indexOf('"'); quote !== -1; quote = piece.indexOf('"', quote + 1)) {
    if (!isEscaped(body, start + quote, start)) return start + quote + 1;
    quotes += 1;
    if (quotes > MOST_QUOTES) return endByBytes(body, start + quote + 1, next);
  }
  return isEscaped(body, next, start) ? -(next + 1) : -next;
}

function endByBytes(body: Buffer, from: number, next: number): number {
  let at = from;
  while (at < next) {
    const byte = body[at];
    if (byte === QUOTE) return at + 1;
    at += byte === BACKSLASH ? 2 : 1;
  }
  return -at;
}

/** Whether an odd number of backslashes stands before an offset; they begin at `from` at the earliest. */
function isEscaped(body: Buffer, offset: number, from: number): boolean {
  let at = offset;
  while (at > from && body[at - 1] === BACKSLASH) at -= 1;
  return (offset - at) % 2 === 1;
}

/** No number has more digits. */
const LONGEST_SCALAR = 4096;

function skipScalar(body: Buffer, from: number): number {
  let at = from;
  for (let byte = body[at]; byte !== undefined && isScalarByte(byte) && at - from <= LONGEST_SCALAR; byte = body[at]) at += 1;
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
