const LF = 10;
const CR = 13;
/** A line longer than this is handed over in pieces, so that a process cannot take all memory. */
const MOST_BYTES = 64 * 1024 * 1024;

/** Cuts a byte stream into lines of text. Chunks may end anywhere, also inside a character; CRLF counts as one line end. */
export class LineSplitter {
  readonly #line: (text: string) => void;
  #parts: Buffer[] = [];
  #size = 0;

  constructor(line: (text: string) => void) {
    this.#line = line;
  }

  push(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, start)) {
      this.#keep(chunk.subarray(start, end));
      this.#emit();
      start = end + 1;
    }
    if (start < chunk.length) this.#keep(chunk.subarray(start));
    if (this.#size > MOST_BYTES) this.#emit();
  }

  /** The text after the last line end; a process that is killed leaves half a line. */
  flush(): void {
    if (this.#size > 0) this.#emit();
  }

  #keep(part: Buffer): void {
    if (part.length === 0) return;
    this.#parts.push(part);
    this.#size += part.length;
  }

  #emit(): void {
    const [first] = this.#parts;
    const whole = this.#parts.length === 1 && first !== undefined ? first : Buffer.concat(this.#parts);
    this.#parts = [];
    this.#size = 0;
    this.#line(whole.toString('utf8', 0, whole.at(-1) === CR ? whole.length - 1 : whole.length));
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
