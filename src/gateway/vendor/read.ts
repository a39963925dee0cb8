import type { IncomingMessage } from 'node:http';
import { type DecodingLimits, decompress, isEncoding } from '../../calls/bounds/decoding.ts';
import { AbpError } from '../../contract/errors.ts';
import type { Prepared } from '../../mapping/prepare.ts';
import type { Scan } from '../../mapping/scan.ts';
import type { PatchedText } from '../../mapping/thinking-override.ts';

/** What other threads made of a large body so far, by route. */
export interface Aside {
  readonly prepared: Map<string, Prepared>;
  readonly patched: Map<string, PatchedText | AbpError>;
}

/** A request body and what routing needs of it. */
export interface Read {
  /** As the caller sent it, perhaps compressed. */
  readonly body: Buffer;
  /** The JSON text in it. */
  readonly text: Buffer;
  readonly scan: Scan;
  /** SHA-256 of the body, where it is known already. */
  readonly sha256?: string;
  /** Of a large body: what other threads made of it. */
  readonly aside?: Aside;
}

/** The JSON text of a body; a compressed one is decoded on the side, the caller's bytes stay. What comes out counts like what came in. */
export function textOf(request: IncomingMessage, body: Buffer, limits: DecodingLimits): Buffer | Promise<Buffer> {
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
