import type { IncomingMessage } from 'node:http';
import { AT_ONCE, joined, joinedInTurns } from '../../base/bounded/buffers.ts';
import { endsTurn } from '../../base/bounded/turns.ts';
import type { Holding } from '../../calls/bounds/body-budget.ts';
import { type DecodingLimits, decompress, isEncoding } from '../../calls/bounds/decoding.ts';
import { AbpError } from '../../contract/errors.ts';

/** Who wants a body. Exactly one of the two is called. */
export interface BodyReader {
  /** The reader owns the body from here on, and gives its memory back. */
  done(body: Buffer): void;
  fail(error: unknown): void;
}

/** Reads a whole body within the limits. */
export function readBody(request: IncomingMessage, limit: number, holding: Holding, reader: BodyReader): void {
  if (Number(request.headers['content-length'] ?? 0) > limit) {
    reader.fail(tooLarge(limit));
    return;
  }
  const body = new PartialBody(limit, holding, reader);
  const goOn = (): void => void request.resume();
  const onData = (chunk: Buffer): void => {
    body.take(chunk);
    // Many who send many megabytes at once are read a little at a time.
    if (body.isLong && endsTurn(chunk.length, goOn)) request.pause();
  };
  request.on('data', onData);
  request.once('end', () => body.end());
  const onBreak = (): void => {
    if (!request.complete) body.fail(new AbpError('invalid_request', 'The connection closed before the body was complete.'));
  };
  request.once('error', onBreak);
  request.once('close', onBreak);
}

/** The JSON text of a body; a compressed one is decoded on the side, the caller's bytes stay. What comes out counts like what came in. */
export function textOf(request: Pick<IncomingMessage, 'headers'>, body: Buffer, limits: DecodingLimits): Buffer | Promise<Buffer> {
  const encoding = request.headers['content-encoding']?.trim().toLowerCase() ?? '';
  return encoding === '' || encoding === 'identity' ? body : decoded(body, encoding, limits);
}

async function decoded(body: Buffer, encoding: string, limits: DecodingLimits): Promise<Buffer> {
  const broken = (): AbpError => new AbpError('invalid_request', `The body is not valid ${encoding.slice(0, 40)}.`);
  if (!isEncoding(encoding)) throw broken();
  return await decompress(body, encoding, limits).catch((error: unknown) => {
    throw AbpError.is(error) ? error : broken();
  });
}

const LONG = 128 * 1024;

class PartialBody {
  readonly #limit: number;
  readonly #holding: Holding;
  readonly #reader: BodyReader;
  #chunks: Buffer[] = [];
  #bytes = 0;
  /** A limit, and the closing of the connection that follows it, both end a body; only the first counts. */
  #over = false;

  constructor(limit: number, holding: Holding, reader: BodyReader) {
    this.#limit = limit;
    this.#holding = holding;
    this.#reader = reader;
  }

  /** Shorter bodies come in the time that a packet takes. */
  get isLong(): boolean {
    return this.#bytes > LONG;
  }

  take(chunk: Buffer): void {
    if (this.#over) return;
    try {
      if (this.#bytes + chunk.length > this.#limit) throw tooLarge(this.#limit);
      this.#holding.take(chunk.length);
    } catch (error) {
      this.fail(error);
      return;
    }
    this.#bytes += chunk.length;
    this.#chunks.push(chunk);
  }

  end(): void {
    if (this.#over) return;
    this.#over = true;
    const chunks = this.#chunks;
    // The request's listeners hold this object until the answer is complete; they must not hold the body.
    this.#chunks = [];
    if (this.#bytes <= AT_ONCE) this.#reader.done(joined(chunks));
    else joinedInTurns(chunks, this.#bytes).then((body) => this.#reader.done(body));
  }

  fail(error: unknown): void {
    if (this.#over) return;
    this.#over = true;
    this.#chunks = [];
    this.#holding.release();
    this.#reader.fail(error);
  }
}

function tooLarge(limit: number): AbpError {
  return new AbpError('payload_too_large', `The body is larger than ${Number((limit / 1024 / 1024).toFixed(2))} MiB.`, {
    limit_bytes: limit,
  });
}
