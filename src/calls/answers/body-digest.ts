import { createHash, type Hash } from 'node:crypto';
import { joined } from '../../base/bounded/buffers.ts';
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
