const LF = 10;
const CR = 13;

/** One server-sent event as text; `event` is empty when the stream names none. */
export interface SseEvent {
  readonly event: string;
  readonly data: string;
  readonly id?: string;
}

/**
 * Cuts a byte stream into SSE frames without decoding them. Lines end in LF, CRLF or CR only (JSON may hold U+2028 and U+0085);
 * frames and UTF-8 sequences may be cut anywhere by the network. A frame without a field line (a comment, a keep-alive) is skipped.
 */
export class SseFrames {
  #rest: Buffer | undefined;
  /** Where the line under way begins, and how far the rest has been looked at. */
  #line = 0;
  #seen = 0;

  /** Complete frames found in `chunk`. */
  push(chunk: Buffer): Buffer[] {
    const data = this.#rest === undefined ? chunk : Buffer.concat([this.#rest, chunk]);
    const frames: Buffer[] = [];
    let start = 0;
    let line = this.#line;
    let at = this.#seen;
    for (; at < data.length; at += 1) {
      const byte = data[at];
      if (byte !== LF && byte !== CR) continue;
      // A CR at the very end may be half of a CRLF.
      if (byte === CR && at + 1 === data.length) break;
      const blank = at === line;
      if (byte === CR && data[at + 1] === LF) at += 1;
      line = at + 1;
      if (!blank) continue;
      keep(frames, data.subarray(start, line));
      start = line;
    }
    this.#rest = start < data.length ? data.subarray(start) : undefined;
    this.#line = line - start;
    this.#seen = at - start;
    return frames;
  }

  /** What the stream left unterminated; a vendor that cuts the last blank line still meant the event. */
  flush(): Buffer[] {
    const frames: Buffer[] = [];
    if (this.#rest !== undefined) keep(frames, this.#rest);
    this.#rest = undefined;
    this.#line = 0;
    this.#seen = 0;
    return frames;
  }
}

const COLON = 0x3a;

/** Keeps a frame that has a field line. Comments begin with a colon; only then are the later lines worth a look. */
function keep(frames: Buffer[], frame: Buffer): void {
  const first = frame[0];
  const hasField = first === COLON || first === LF || first === CR ? /^[^:\r\n]/m.test(frame.toString('latin1')) : frame.length > 0;
  if (hasField) frames.push(frame);
}

/** Decodes one frame: several `data:` lines join with a line feed, one space after the colon is dropped. */
export function decodeSse(frame: Buffer): SseEvent {
  let event = '';
  let data: string | undefined;
  let id: string | undefined;
  for (const line of linesOf(frame.toString('utf8'))) {
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
