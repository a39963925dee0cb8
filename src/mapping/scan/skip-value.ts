import { AbpError } from '../../contract/errors.ts';

/** Bytes that JSON is made of. */
export const BYTES = {
  QUOTE: 0x22,
  BACKSLASH: 0x5c,
  OPEN_BRACE: 0x7b,
  CLOSE_BRACE: 0x7d,
  OPEN_BRACKET: 0x5b,
  CLOSE_BRACKET: 0x5d,
  COLON: 0x3a,
  COMMA: 0x2c,
} as const;
const { QUOTE, BACKSLASH, OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET, COMMA } = BYTES;

/** Between two members nobody writes more white space. */
const MOST_SPACE = 64 * 1024;

export function skipSpace(body: Buffer, from: number): number {
  let at = from;
  for (let byte = body[at]; byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09; byte = body[at]) {
    at += 1;
    if (at - from > MOST_SPACE) throw malformed(`there are more than ${MOST_SPACE} bytes of white space at offset ${from}`);
  }
  return at;
}

/** The first message of a user is among so many. */
const FIRST_MESSAGES = 8;

/** Most strings of a request are shorter. */
const SHORT = 48;
/** A long string is searched as text, in pieces that grow: that is three times as fast as looking at each byte. */
const FIRST_PIECE = 1024;
const PIECE = 16 * 1024;

/** Passes over one value. Brackets are balanced by kind; what is inside is the engine's to judge. */
export class Skip {
  readonly #body: Buffer;
  readonly #open: number[] = [];
  /** Where the search for the end of a long string goes on. */
  #string: number | undefined;
  #begun = false;
  at: number;
  values = 1;
  /** Of a conversation: where its first messages end. */
  readonly ends: number[] | undefined;
  /** A mark in it asks for a cache that lives for an hour or longer. */
  longCache = false;

  constructor(body: Buffer, from: number, conversation: boolean) {
    this.#body = body;
    this.at = from;
    this.ends = conversation ? [] : undefined;
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
      } else if (byte === COMMA) this.#comma(at);
      else if (byte !== undefined && byte >= OPEN_BRACKET && this.#bracket(byte, at)) {
        this.at = at + 1;
        return true;
      }
    }
    if (at >= body.length) throw malformed('the body ends inside a value');
    this.at = at;
    return false;
  }

  #comma(at: number): void {
    this.values += 1;
    if (this.ends !== undefined && this.#open.length === 1 && this.ends.length < FIRST_MESSAGES) this.ends.push(at);
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
    if (end > 0) {
      if (end - from <= LONGEST_LIFE) this.longCache ||= isLongLife(this.#body, from, end);
      return end;
    }
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

/** `"1h"` of Claude's marks and `"24h"` of OpenAI's retention, with their quotes. */
const LONGEST_LIFE = 5;
const [ONE, TWO, FOUR, HOURS] = [0x31, 0x32, 0x34, 0x68];

function isLongLife(body: Buffer, from: number, end: number): boolean {
  if (body[end - 2] !== HOURS) return false;
  return end - from === 4 ? body[from + 1] === ONE : end - from === 5 && body[from + 1] === TWO && body[from + 2] === FOUR;
}

/** Offset after the string that starts at `from`, or where it was given up, negative. */
export function shortEnd(body: Buffer, from: number): number {
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
export function longEnd(body: Buffer, from: number, until: number): number {
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

export function malformed(message: string): AbpError {
  return new AbpError('invalid_request', `The request body is not valid JSON: ${message}.`);
}
