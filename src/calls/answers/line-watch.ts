import type { Observed, StreamObserver } from '../../dialects/dialect.ts';
import { type Encoding, isEncoding } from '../bounds/decoding.ts';
import { StreamDecoder } from '../bounds/stream-decoder.ts';

const LINE_BREAK = 0x0a;
/** A longer line is passed over. */
const MOST_LINE = 8 * 1024 * 1024;
/** Compressed bytes that wait to be decompressed; where more come, the rest is not read. */
const MOST_BEHIND = 8 * 1024 * 1024;

/** Reads an answer line by line as it goes by, however long it is. */
export class LineWatch {
  readonly #observer: StreamObserver;
  readonly #decoder: StreamDecoder | undefined;
  /** Resolves when the decoder has given out everything. */
  readonly #decoded: Promise<void> | undefined;
  #rest: Buffer[] = [];
  #held = 0;
  #behind = 0;
  #blind = false;

  constructor(observer: StreamObserver, encoding: string) {
    this.#observer = observer;
    if (isEncoding(encoding)) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#decoded = promise;
      this.#decoder = this.#decoding(encoding, resolve);
    } else this.#blind = encoding !== '';
  }

  #decoding(encoding: Encoding, done: () => void): StreamDecoder {
    return new StreamDecoder(encoding, {
      data: (chunk) => {
        this.#read(chunk);
        return true;
      },
      end: done,
      // Of a body that was cut off the lines before are as good as any.
      broken: done,
      drained: () => {
        this.#behind = 0;
      },
    });
  }

  chunk(chunk: Buffer): void {
    if (this.#blind) return;
    if (this.#decoder === undefined) this.#read(chunk);
    else if (!this.#decoder.write(chunk)) this.#wait(chunk.length);
  }

  #wait(bytes: number): void {
    this.#behind += bytes;
    this.#blind = this.#behind > MOST_BEHIND;
  }

  #read(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(LINE_BREAK); end !== -1; end = chunk.indexOf(LINE_BREAK, start)) {
      this.#line(chunk.subarray(start, end));
      start = end + 1;
    }
    if (start < chunk.length) this.#hold(chunk.subarray(start));
  }

  #hold(piece: Buffer): void {
    this.#held += piece.length;
    if (this.#held <= MOST_LINE) this.#rest.push(piece);
    else this.#rest = [];
  }

  #line(end: Buffer): void {
    const line = this.#rest.length === 0 ? end : Buffer.concat([...this.#rest, end]);
    const isLong = this.#held > MOST_LINE;
    this.#rest = [];
    this.#held = 0;
    if (isLong || line.length > 0) this.#observer.frame(isLong ? NOTHING : line);
  }

  /** `whole`: the last line needs no break to be one. */
  async done(whole: boolean): Promise<Observed> {
    this.#decoder?.end();
    await this.#decoded;
    if (whole && this.#held > 0) this.#line(NOTHING);
    return this.#observer.done();
  }
}

const NOTHING = Buffer.alloc(0);
