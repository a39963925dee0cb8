import { hash, timingSafeEqual } from 'node:crypto';
import { Scopes } from '../../calls/scopes.ts';
import { findKeyByHash, isLive, type Key } from '../../store/keys.ts';
import type { Store } from '../../store/store.ts';

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
  return hash('sha256', secret, 'hex');
}

function digestOf(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}

/** Looks keys up by their hash and remembers the answer for a moment, so that a stream does not wait for the database. */
export class KeyRing {
  readonly #store: Store;
  readonly #token: Buffer;
  readonly #tokenLength: number;
  readonly #entries = new Map<string, Entry>();

  constructor(store: Store, token: string) {
    this.#store = store;
    this.#token = digestOf(token);
    this.#tokenLength = token.length;
  }

  isToken(secret: string): boolean {
    // The length is no secret, and it spares hashing every caller's own vendor key.
    return secret.length === this.#tokenLength && timingSafeEqual(digestOf(secret), this.#token);
  }

  /** The live key of a secret; undefined when there is none. At once where the answer is remembered. */
  find(secret: string): KnownKey | undefined | Promise<KnownKey | undefined> {
    const now = Date.now();
    const hashed = hashSecret(secret);
    const entry = this.#entries.get(hashed);
    if (entry !== undefined && now - entry.readAt < FRESH_MS) return live(entry.known, now);
    return this.#read(hashed, now).then((known) => live(known, now));
  }

  forget(): void {
    this.#entries.clear();
  }

  async #read(hashed: string, now: number): Promise<KnownKey | undefined> {
    const key = await findKeyByHash(this.#store, hashed);
    const known = key === undefined ? undefined : { key, scopes: Scopes.parse(key.scopes) };
    if (this.#entries.size >= MOST_KNOWN) this.#entries.clear();
    this.#entries.set(hashed, { known, readAt: now });
    return known;
  }
}

function live(known: KnownKey | undefined, now: number): KnownKey | undefined {
  return known !== undefined && isLive(known.key, now) ? known : undefined;
}
