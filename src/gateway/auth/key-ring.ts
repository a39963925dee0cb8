import { createHash, timingSafeEqual } from 'node:crypto';
import { findKeyByHash, isLive, type Key } from '../../store/keys.ts';
import type { Store } from '../../store/store.ts';
import { Scopes } from './scopes.ts';

/** A revoked key is refused at the latest this much later by other processes; the one that revokes forgets it at once. */
const FRESH_MS = 5000;
const MOST_KNOWN = 10_000;

export interface KnownKey {
  readonly key: Key;
  readonly scopes: Scopes;
}

interface Entry {
  readonly known: KnownKey | undefined;
  readonly readAt: number;
}

export function hashSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

/** Looks keys up by their hash and remembers the answer for a moment, so that a stream does not wait for the database. */
export class KeyRing {
  readonly #store: Store;
  readonly #token: Buffer;
  readonly #entries = new Map<string, Entry>();

  constructor(store: Store, token: string) {
    this.#store = store;
    this.#token = createHash('sha256').update(token).digest();
  }

  isToken(secret: string): boolean {
    return timingSafeEqual(createHash('sha256').update(secret).digest(), this.#token);
  }

  /** The live key of a secret; undefined when there is none. */
  async find(secret: string): Promise<KnownKey | undefined> {
    const now = Date.now();
    const hash = hashSecret(secret);
    const entry = this.#entries.get(hash);
    const known = entry !== undefined && now - entry.readAt < FRESH_MS ? entry.known : await this.#read(hash, now);
    return known !== undefined && isLive(known.key, now) ? known : undefined;
  }

  forget(): void {
    this.#entries.clear();
  }

  async #read(hash: string, now: number): Promise<KnownKey | undefined> {
    const key = await findKeyByHash(this.#store, hash);
    const known = key === undefined ? undefined : { key, scopes: Scopes.parse(key.scopes) };
    if (this.#entries.size >= MOST_KNOWN) this.#entries.clear();
    this.#entries.set(hash, { known, readAt: now });
    return known;
  }
}
