import type { Transform } from 'node:stream';
import { constants, createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';
import { joinedInTurns } from '../../base/bounded/buffers.ts';
import { AbpError } from '../../contract/errors.ts';
import type { Holding } from './body-budget.ts';

/** Decoders that work at the same time: each fills a thread of the process, and a few hundred bytes may become megabytes in each. */
const MOST_AT_ONCE = 4;
const MOST_WAITING = 256;

const DECODERS = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
} as const;

export type Encoding = keyof typeof DECODERS;

/** A decoder that gives out what each chunk completes, instead of waiting for a full block. */
export function createDecoder(encoding: Encoding): Transform {
  if (encoding === 'br') return createBrotliDecompress({ flush: constants.BROTLI_OPERATION_FLUSH });
  if (encoding === 'zstd') return createZstdDecompress({ flush: constants.ZSTD_e_flush });
  return DECODERS[encoding]({ flush: constants.Z_SYNC_FLUSH });
}

export function isEncoding(encoding: string): encoding is Encoding {
  return Object.hasOwn(DECODERS, encoding);
}

export interface DecodingLimits {
  /** The most that the decoded body may have. */
  readonly most: number;
  /** Counts what comes out, while it comes out. */
  readonly holding: Holding;
}

let working = 0;
const waiting: (() => void)[] = [];

/** The decoded body. Throws `payload_too_large` or `overloaded` as soon as a limit is reached, and a plain error where it is broken. */
export async function decompress(body: Buffer, encoding: Encoding, limits: DecodingLimits): Promise<Buffer> {
  if (working < MOST_AT_ONCE) working += 1;
  else await turn();
  try {
    return await decoded(body, encoding, limits);
  } finally {
    const next = waiting.shift();
    if (next === undefined) working -= 1;
    else next();
  }
}

/** Resolves when somebody else is done and leaves its place. */
function turn(): Promise<void> {
  if (waiting.length >= MOST_WAITING) throw new AbpError('overloaded', 'Too many compressed bodies are waiting to be decompressed.');
  return new Promise((resolve) => waiting.push(resolve));
}

async function decoded(body: Buffer, encoding: Encoding, { most, holding }: DecodingLimits): Promise<Buffer> {
  const decoder = DECODERS[encoding]();
  const chunks: Buffer[] = [];
  let bytes = 0;
  decoder.end(body);
  for await (const chunk of decoder as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > most) throw tooLarge(most);
    holding.take(chunk.length);
    chunks.push(chunk);
  }
  return await joinedInTurns(chunks, bytes);
}

function tooLarge(limit: number): AbpError {
  return new AbpError('payload_too_large', `The decompressed body is larger than ${Math.round(limit / 1024 / 1024)} MiB.`, {
    limit_bytes: limit,
  });
}
