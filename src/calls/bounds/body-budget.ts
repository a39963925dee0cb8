import { FairShare } from '../../base/bounded/fair-share.ts';
import { AbpError } from '../../contract/errors.ts';

/** The memory for bodies of requests and answers that are held at the same time, as they came and decompressed. */
export class BodyBudget {
  readonly #share: FairShare;

  constructor(limit: number) {
    this.#share = new FairShare(limit);
  }

  get held(): number {
    return this.#share.held;
  }

  /** A holding for one call, with nothing in it yet. */
  holding(caller: string): Holding {
    return new Holding(this.#share, caller);
  }
}

/** As much of a stream as is not worth counting. */
const COUNTED_BYTES = 64 * 1024;

/** The memory that one call holds for its bodies. It does not know the bodies: it lives as long as a slow stream. */
export class Holding {
  readonly #share: FairShare;
  readonly #caller: string;
  #bytes = 0;
  #kept = 0;

  constructor(share: FairShare, caller: string) {
    this.#share = share;
    this.#caller = caller;
  }

  /** Throws when there is no room. */
  take(bytes: number): void {
    const refusal = this.#share.refusal(this.#caller, bytes);
    if (refusal === 'full') throw new AbpError('overloaded', 'Too many bodies are in flight.');
    if (refusal === 'share') throw new AbpError('overloaded', 'The bodies of this caller in flight take up its share of the memory.');
    this.#share.take(this.#caller, bytes);
    this.#bytes += bytes;
  }

  /** Says how much is kept of a stream by now; throws when there is no room. Most streams keep little, which is not counted. */
  keep(bytes: number): void {
    if (bytes - this.#kept < COUNTED_BYTES) return;
    this.take(bytes - this.#kept);
    this.#kept = bytes;
  }

  /** Gives everything back; may be called again. */
  release(): void {
    const bytes = this.#bytes;
    this.#bytes = 0;
    this.#kept = 0;
    if (bytes > 0) this.#share.release(this.#caller, bytes);
  }
}
