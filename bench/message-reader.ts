const HEAD_END = '\r\n\r\n';
const LINE_END = '\r\n';
const LF = 10;

/**
 * Counts one HTTP/1.1 message off a connection: its first line and how long its body is. It knows what the programs of this bench send
 * and no more; the ends of a measurement must not take the processor from what is measured between them.
 */
export class MessageReader {
  /** The line that begins the message, once its head is here. */
  first = '';
  /** Bytes of the body so far, without what marks its chunks. */
  body = 0;
  #text = '';
  /** Bytes of the body, or of the current chunk, that are still to come. */
  #left = 0;
  #part: 'head' | 'body' | 'size' | 'chunk' | 'chunk end' | 'last line' = 'head';

  /** Takes bytes; whether the message is complete with them. */
  push(bytes: Buffer): boolean {
    const at = this.#part === 'head' ? this.#readHead(bytes) : 0;
    if (at === -1) return false;
    return this.#part === 'body' ? this.#readBody(bytes.length - at) : this.#readChunks(bytes, at);
  }

  #readHead(bytes: Buffer): number {
    const before = this.#text.length;
    this.#text += bytes.toString('latin1');
    const end = this.#text.indexOf(HEAD_END);
    if (end === -1) return -1;
    const head = this.#text.slice(0, end);
    this.first = head.slice(0, head.indexOf(LINE_END));
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    this.#part = length === undefined && /\r\ntransfer-encoding: *chunked/i.test(head) ? 'size' : 'body';
    this.#left = Number(length ?? 0);
    this.#text = '';
    return end + HEAD_END.length - before;
  }

  #readBody(count: number): boolean {
    this.body += count;
    this.#left -= count;
    return this.#left <= 0;
  }

  #readChunks(bytes: Buffer, from: number): boolean {
    for (let at = from; at < bytes.length; ) {
      if (this.#part === 'chunk') {
        const taken = Math.min(this.#left, bytes.length - at);
        this.body += taken;
        this.#left -= taken;
        at += taken;
        if (this.#left === 0) this.#part = 'chunk end';
        continue;
      }
      const end = bytes.indexOf(LF, at);
      this.#text += bytes.toString('latin1', at, end === -1 ? bytes.length : end);
      if (end === -1) return false;
      at = end + 1;
      if (this.#line(this.#text.trim())) return true;
    }
    return false;
  }

  /** A line between chunks; whether it was the last one. */
  #line(line: string): boolean {
    this.#text = '';
    if (this.#part === 'last line') return line === '';
    if (this.#part === 'size') {
      this.#left = Number.parseInt(line, 16);
      this.#part = this.#left === 0 ? 'last line' : 'chunk';
    } else this.#part = 'size';
    return false;
  }
}
