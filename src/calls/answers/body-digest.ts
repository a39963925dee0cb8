import { createHash, type Hash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { sha256 } from '../../base/canonical-json.ts';
import type { Digest } from '../../receipts/journal/facts.ts';

/** Chunks of a stream are small and many; taking them by the dozen spares most of the calls into the hash, and into the observer that reads along. */
const GATHERED_BYTES = 16 * 1024;

/** The digest of a body that comes in chunks. */
export class BodyDigest {
  #hash: Hash | undefined;
  #gathered: Buffer[] = [];
  #gatheredBytes = 0;
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  /** The bytes that were hashed just now, once enough have gathered: each byte is in exactly one of these, or in the rest. */
  update(chunk: Buffer): Buffer | undefined {
    this.#bytes += chunk.length;
    this.#gatheredBytes += chunk.length;
    this.#gathered.push(chunk);
    if (this.#gatheredBytes < GATHERED_BYTES) return undefined;
    const taken = this.#taken();
    this.#hash ??= createHash('sha256');
    this.#hash.update(taken);
    return taken;
  }

  done(): { readonly digest: Digest; readonly rest: Buffer } {
    const rest = this.#taken();
    return { digest: { sha256: this.#hash?.update(rest).digest('hex') ?? sha256(rest), bytes: this.#bytes }, rest };
  }

  #taken(): Buffer {
    const taken = joined(this.#gathered);
    this.#gathered = [];
    this.#gatheredBytes = 0;
    return taken;
  }
}

/** As much as is hashed before others have their turn: some milliseconds. */
const HASHED_AT_ONCE = 2 * 1024 * 1024;

/** The SHA-256 of a large body, in slices between which other calls have their turn. */
export async function digestInTurns(body: Buffer): Promise<string> {
  const hash = createHash('sha256');
  for (let at = 0; at < body.length; at += HASHED_AT_ONCE) {
    hash.update(body.subarray(at, at + HASHED_AT_ONCE));
    await setImmediate();
  }
  return hash.digest('hex');
}

/** As much as is copied before others have their turn. */
export const COPIED_AT_ONCE = 2 * 1024 * 1024;

/** One buffer of several, where they are many megabytes: in slices, like everything that is done with such a body. */
export async function joinedInTurns(chunks: readonly Buffer[], bytes: number): Promise<Buffer> {
  const [only] = chunks;
  if (chunks.length === 1 && only !== undefined) return only;
  const whole = Buffer.allocUnsafeSlow(bytes);
  let at = 0;
  let pause = COPIED_AT_ONCE;
  for (const chunk of chunks) {
    at += chunk.copy(whole, at);
    if (at < pause) continue;
    pause = at + COPIED_AT_ONCE;
    await setImmediate();
  }
  return whole;
}

/** One buffer of several; a lone one is not copied. */
export function joined(chunks: readonly Buffer[]): Buffer {
  const [only] = chunks;
  return chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks);
}
