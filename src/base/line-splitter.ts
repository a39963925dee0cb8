import { TextDecoder } from 'node:util';

const LF = 10;
const CR = 13;
/** A line longer than this is handed over in pieces, so that a process cannot take all memory. */
const MOST_BYTES = 64 * 1024 * 1024;

/** Why bytes are no line of a protocol: there are too many of them, or they are not UTF-8. */
export type LineFault = 'too-long' | 'not-utf8';

/** For peers of a protocol, whose faults are told instead of mended. A line that is too long is thrown away while it comes. */
export interface LineRules {
  readonly mostBytes: number;
  fault(kind: LineFault): void;
}

/** Cuts a byte stream into lines of text. Chunks may end anywhere, also inside a character; CRLF counts as one line end. */
export class LineSplitter {
  readonly #line: (text: string) => void;
  readonly #rules: LineRules | undefined;
  readonly #decoder: TextDecoder | undefined;
  readonly #pieces: number;
  #parts: Buffer[] = [];
  #size = 0;
  /** The rest of a line that was too long is thrown away. */
  #skipping = false;

  /** `pieces`: the bytes from which on a line is handed over in pieces; not for a protocol. */
  constructor(line: (text: string) => void, rules?: LineRules, pieces = MOST_BYTES) {
    this.#line = line;
    this.#rules = rules;
    this.#pieces = pieces;
    this.#decoder = rules === undefined ? undefined : new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  }

  push(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, start)) {
      this.#keep(chunk.subarray(start, end));
      this.#emit();
      start = end + 1;
    }
    if (start < chunk.length) this.#keep(chunk.subarray(start));
    if (this.#rules === undefined && this.#size > this.#pieces) this.#emit();
  }

  /** The text after the last line end; a process that is killed leaves half a line. */
  flush(): void {
    if (this.#size > 0) this.#emit();
  }

  #keep(part: Buffer): void {
    if (part.length === 0 || this.#skipping) return;
    this.#parts.push(part);
    this.#size += part.length;
    if (this.#rules === undefined || this.#size <= this.#rules.mostBytes) return;
    this.#skipping = true;
    this.#parts = [];
    this.#size = 0;
    this.#rules.fault('too-long');
  }

  #emit(): void {
    const [first] = this.#parts;
    const whole = this.#parts.length === 1 && first !== undefined ? first : Buffer.concat(this.#parts);
    const skipped = this.#skipping;
    this.#parts = [];
    this.#size = 0;
    this.#skipping = false;
    if (!skipped) this.#told(whole.subarray(0, whole.at(-1) === CR ? whole.length - 1 : whole.length));
  }

  #told(bytes: Buffer): void {
    const text = this.#decoder === undefined ? bytes.toString('utf8') : decoded(this.#decoder, bytes);
    if (text === undefined) this.#rules?.fault('not-utf8');
    else this.#line(text);
  }
}

function decoded(decoder: TextDecoder, bytes: Buffer): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    // That it throws is how the decoder says it.
    return undefined;
  }
}

/** The last part of a long text: enough to say why a process died. */
export class TextTail {
  readonly #most: number;
  #text = '';

  constructor(most: number) {
    this.#most = most;
  }

  add(text: string): void {
    this.#text += text;
    // Cutting only at twice the size keeps the work per added text constant.
    if (this.#text.length > this.#most * 2) this.#text = this.#text.slice(-this.#most);
  }

  get text(): string {
    return this.#text.slice(-this.#most);
  }
}
