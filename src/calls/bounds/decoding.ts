import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';
import { AbpError } from '../../contract/errors.ts';
import { joined } from '../answers/body-digest.ts';
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

export function isEncoding(encoding: string): encoding is keyof typeof DECODERS {
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
export async function decompress(body: Buffer, encoding: keyof typeof DECODERS, limits: DecodingLimits): Promise<Buffer> {
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

async function decoded(body: Buffer, encoding: keyof typeof DECODERS, { most, holding }: DecodingLimits): Promise<Buffer> {
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
  return joined(chunks);
}

function tooLarge(limit: number): AbpError {
  return new AbpError('payload_too_large', `The decompressed body is larger than ${Math.round(limit / 1024 / 1024)} MiB.`, {
    limit_bytes: limit,
  });
}
