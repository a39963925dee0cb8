import type { Transform } from 'node:stream';
import { createDecoder, type Encoding } from './decoding.ts';

/** Who gets the decoded bytes. */
export interface DecodedSink {
  /** False asks to pause until `resume`. */
  data(chunk: Buffer): boolean;
  end(): void;
  /** The bytes are not what their encoding says. */
  broken(): void;
  /** There is room for more compressed bytes. */
  drained(): void;
}

/** Decompresses a stream chunk by chunk, each as soon as its bytes have come; no more than a chunk is held for a slow reader. */
export class StreamDecoder {
  readonly #decoder: Transform;

  constructor(encoding: Encoding, sink: DecodedSink) {
    this.#decoder = createDecoder(encoding);
    this.#decoder
      .on('data', (chunk: Buffer) => {
        if (!sink.data(chunk)) this.#decoder.pause();
      })
      .on('drain', () => sink.drained())
      .on('error', () => sink.broken())
      .on('end', () => sink.end());
  }

  /** False when no more should come until the sink is told of room. */
  write(chunk: Buffer): boolean {
    return this.#decoder.write(chunk);
  }

  end(): void {
    this.#decoder.end();
  }

  resume(): void {
    this.#decoder.resume();
  }

  stop(): void {
    this.#decoder.destroy();
  }
}
