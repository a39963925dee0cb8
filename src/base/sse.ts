import { mayHoldMore } from './json-limits.ts';

const LF = 10;
const CR = 13;

/** One server-sent event as text; `event` is empty when the stream names none. */
export interface SseEvent {
  readonly event: string;
  readonly data: string;
  readonly id?: string;
}

/** No vendor sends a longer one: pictures travel in frames of some megabytes, the largest of them in about twenty. */
const MOST_FRAME_BYTES = 32 * 1024 * 1024;
/** Memory that a stream keeps for the next frame that the network cuts. */
const KEPT_BYTES = 64 * 1024;
const BLOCK_BYTES = 1024 * 1024;
const NOTHING = Buffer.alloc(0);

/** No event of a vendor holds as many values; reading them would keep every other call waiting. */
const MOST_FRAME_VALUES = 50_000;

/** A stream that does not end its frame: a reader that waited for the end would hold all of it in memory. */
export class SseFrameTooLong extends Error {
  constructor(most: number) {
    super(`an event of the stream is longer than ${most} bytes`);
  }
}

/** Whether an event is too much to be read where other calls wait. */
export function isTooMuch(frame: Buffer): boolean {
  return frame.length > 2 * MOST_FRAME_VALUES && mayHoldMore(frame, MOST_FRAME_VALUES);
}

/**
 * Cuts a byte stream into SSE frames without decoding them. Lines end in LF, CRLF or CR only (JSON may hold U+2028 and U+0085);
 * frames and UTF-8 sequences may be cut anywhere by the network. A frame without a field line (a comment, a keep-alive) is skipped.
 */
export class SseFrames {
  readonly #most: number;
  /** The frame under way: blocks that are full, the last one, and how much of that is filled. */
  #blocks: Buffer[] = [];
  #held = NOTHING;
  #filled = 0;
  #length = 0;
  /** Nothing of the line under way has come yet. */
  #fresh = true;
  /** The last byte was a CR, which may be half of a CRLF. */
  #half = false;

  constructor(most = MOST_FRAME_BYTES) {
    this.#most = most;
  }

  /** Bytes of the frame under way that are held. */
  get held(): number {
    return this.#length;
  }

  /** Complete frames found in `chunk`. Throws `SseFrameTooLong` when one is not complete for too long. */
  push(chunk: Buffer): Buffer[] {
    if (chunk.length === 0) return [];
    const data = this.#half ? Buffer.concat([Buffer.of(CR), chunk]) : chunk;
    this.#half = data[data.length - 1] === CR;
    const end = this.#half ? data.length - 1 : data.length;
    const frames: Buffer[] = [];
    let start = 0;
    let line = this.#fresh ? 0 : -1;
    for (let at = 0; at < end; at += 1) {
      const byte = data[at];
      if (byte !== LF && byte !== CR) continue;
      const blank = at === line;
      const alone = line === start;
      if (byte === CR && data[at + 1] === LF) at += 1;
      line = at + 1;
      if (!blank) continue;
      this.#close(frames, data.subarray(start, line), alone);
      start = line;
    }
    this.#fresh = line === end;
    if (start < end) this.#hold(data.subarray(start, end));
    return frames;
  }

  /** A blank line ends a frame. Those between frames are nothing, however many there are. */
  #close(frames: Buffer[], last: Buffer, alone: boolean): void {
    if (!alone || this.#length > 0) keep(frames, this.#whole(last));
  }

  /** The event that the stream left unterminated: a vendor that leaves out the last blank line still meant it. */
  flush(): Buffer[] {
    const frames: Buffer[] = [];
    keep(frames, this.#whole(this.#half ? Buffer.of(CR) : NOTHING));
    this.#fresh = true;
    this.#half = false;
    return frames;
  }

  /** The frame that ends with these bytes. */
  #whole(last: Buffer): Buffer {
    if (this.#length === 0) return last;
    const frame = Buffer.concat([...this.#blocks, this.#held.subarray(0, this.#filled), last]);
    this.#length = 0;
    this.#filled = 0;
    this.#blocks = [];
    if (this.#held.length > KEPT_BYTES) this.#held = NOTHING;
    return frame;
  }

  /** Memory doubles as it fills, up to a block: a long frame in many pieces is copied once, and not again for each of them. */
  #hold(piece: Buffer): void {
    this.#length += piece.length;
    if (this.#length > this.#most) throw new SseFrameTooLong(this.#most);
    const filled = this.#filled + piece.length;
    if (filled > this.#held.length) {
      if (this.#filled > BLOCK_BYTES) this.#putAway();
      const grown = Buffer.allocUnsafe(Math.max(this.#filled + piece.length, 2 * this.#filled));
      this.#held.copy(grown, 0, 0, this.#filled);
      this.#held = grown;
    }
    piece.copy(this.#held, this.#filled);
    this.#filled += piece.length;
  }

  #putAway(): void {
    this.#blocks.push(this.#held.subarray(0, this.#filled));
    this.#held = NOTHING;
    this.#filled = 0;
  }
}

const COLON = 0x3a;

/** Keeps a frame that has a field line. Comments begin with a colon; only then are the later lines worth a look. */
function keep(frames: Buffer[], frame: Buffer): void {
  const first = frame[0];
  const hasField = first === COLON || first === LF || first === CR ? /^[^:\r\n]/m.test(frame.toString('latin1')) : frame.length > 0;
  if (hasField) frames.push(frame);
}

/** A byte order mark may stand before the first event of a stream. */
function withoutMark(text: string): string {
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}

/** Decodes one frame: several `data:` lines join with a line feed, one space after the colon is dropped. */
export function decodeSse(frame: Buffer): SseEvent {
  let event = '';
  let data: string | undefined;
  let id: string | undefined;
  for (const line of linesOf(withoutMark(frame.toString('utf8')))) {
    const colon = line.indexOf(':');
    // A line that begins with a colon is a comment; one without any is a name alone.
    const name = colon === -1 ? line : line.slice(0, colon);
    if (name === 'data') data = data === undefined ? valueAfter(line, colon) : `${data}\n${valueAfter(line, colon)}`;
    else if (name === 'event') event = valueAfter(line, colon);
    else if (name === 'id') id = valueAfter(line, colon);
  }
  return { event, data: data ?? '', ...(id === undefined ? {} : { id }) };
}

function linesOf(text: string): string[] {
  return text.includes('\r') ? text.split(/\r\n|\n|\r/) : text.split('\n');
}

function valueAfter(line: string, colon: number): string {
  if (colon === -1) return '';
  return line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
}

/** Writes one event with LF line ends. */
export function encodeSse(event: { readonly event?: string; readonly data: string; readonly id?: string }): string {
  const head = `${event.id === undefined ? '' : `id: ${event.id}\n`}${event.event ? `event: ${event.event}\n` : ''}`;
  const body = event.data.includes('\n') ? event.data.replaceAll('\n', '\ndata: ') : event.data;
  return `${head}data: ${body}\n\n`;
}
