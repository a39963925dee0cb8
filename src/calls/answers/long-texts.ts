import { randomBytes } from 'node:crypto';

/** Shorter texts are read in a fraction of a millisecond. */
const SHORTEST = 64 * 1024;
/** An event with more texts than this is no picture. */
const MOST_TEXTS = 20_000;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** How much before a text and of its beginning is looked at. */
const LOOKED_AT = 256;
/** Members of vendors' events that hold pictures and sounds, … */
const MEMBER = /"(?:data|url|image_url|b64_json|partial_image_b64|result)"\s*:\s*"$/;
/** … and how these begin. */
const BEGINNING = /^(data:[\w.+/-]+;base64,)?[A-Za-z0-9+/_-]{64}/;
/** Arguments that Gemini's models write may have members of these names, too; they are read, checked and hashed. */
const ARGUMENTS = Buffer.from('"functionCall"');
/** So many that no stream has more pictures than there are marks. */
const MARK_DIGITS = 9;

/**
 * Pictures and sounds in the events of one stream. Nobody here reads them, and parsing, translating and writing megabytes of base64 would
 * keep every other call waiting: an event gets a mark in the place of each, and the mark gives way to the same bytes in what goes out.
 */
export class LongTexts {
  readonly #taken: Buffer[] = [];
  #bytes = 0;
  /** Nobody can guess it: a mark that an engine writes itself stands for nothing. */
  #name = '';

  /** Bytes that are held. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The event with marks. */
  take(frame: Buffer): Buffer {
    if (frame.length < SHORTEST || frame.includes(ARGUMENTS)) return frame;
    const pieces: Buffer[] = [];
    let from = 0;
    let open = frame.indexOf(QUOTE);
    for (let texts = 0; open !== -1 && texts < MOST_TEXTS; texts += 1) {
      const close = frame.indexOf(QUOTE, open + 1);
      const start = close - open < SHORTEST ? -1 : startOf(frame, open, close);
      if (start !== -1) {
        pieces.push(frame.subarray(from, start), Buffer.from(this.#mark(frame.subarray(start, close)), 'latin1'));
        from = close;
      }
      open = close;
    }
    return pieces.length === 0 ? frame : Buffer.concat([...pieces, frame.subarray(from)]);
  }

  /**
   * The text as bytes for the caller, with everything taken out back in its place; in several pieces, because joining megabytes takes time
   * as well.
   */
  bytesOf(text: string): Buffer[] {
    if (text === '') return [];
    if (this.#taken.length === 0 || !text.includes(this.#name)) return [Buffer.from(text, 'utf8')];
    return this.#pieces(text).map((piece) => (typeof piece === 'string' ? Buffer.from(piece, 'utf8') : piece));
  }

  /** The same as text. */
  textOf(text: string): string {
    if (this.#taken.length === 0 || !text.includes(this.#name)) return text;
    return this.#pieces(text)
      .map((piece) => piece.toString())
      .join('');
  }

  #mark(text: Buffer): string {
    if (this.#name === '') this.#name = `abpx${randomBytes(12).toString('hex')}`;
    this.#taken.push(text);
    this.#bytes += text.length;
    return `${this.#name}${String(this.#taken.length - 1).padStart(MARK_DIGITS, '0')}`;
  }

  #pieces(text: string): (string | Buffer)[] {
    const [first = '', ...rest] = text.split(this.#name);
    return [first, ...rest.flatMap((piece) => [this.#taken[Number(piece.slice(0, MARK_DIGITS))] ?? '', piece.slice(MARK_DIGITS)])];
  }
}

/** Where the picture begins between two quotes; -1 where it is none. */
function startOf(frame: Buffer, open: number, close: number): number {
  if (!MEMBER.test(frame.toString('latin1', Math.max(0, open - LOOKED_AT), open + 1))) return -1;
  const begins = BEGINNING.exec(frame.toString('latin1', open + 1, open + 1 + LOOKED_AT));
  const text = frame.subarray(open + 1, close);
  if (begins === null || text.includes(BACKSLASH) || text.includes('\n') || text.includes('\r')) return -1;
  return open + 1 + (begins[1]?.length ?? 0);
}
