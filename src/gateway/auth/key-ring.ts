import { hash, timingSafeEqual } from 'node:crypto';
import { Scopes } from '../../calls/scopes.ts';
import { AbpError } from '../../contract/errors.ts';
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

/** How long a lookup is waited for when the key is known from before, and when it is not. */
const KNOWN_WAIT_MS = 1000;
const UNKNOWN_WAIT_MS = 5000;

/** How long a key that the database confirmed keeps working while the database does not answer. */
const DEFAULT_REMEMBERED_MS = 15 * 60_000;

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
  readonly #rememberedMs: number;
  readonly #entries = new Map<string, Entry>();

  constructor(store: Store, token: string, rememberedMs = DEFAULT_REMEMBERED_MS) {
    this.#store = store;
    this.#rememberedMs = rememberedMs;
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
    return this.#read(hashed, now, entry).then((known) => live(known, now));
  }

  forget(): void {
    this.#entries.clear();
  }

  /** From the database; while that does not answer, from what it said not long ago. */
  async #read(hashed: string, now: number, before: Entry | undefined): Promise<KnownKey | undefined> {
    const remembered = before?.known !== undefined && now - before.readAt < this.#rememberedMs ? before.known : undefined;
    try {
      return await inTime(this.#lookUp(hashed, now), remembered === undefined ? UNKNOWN_WAIT_MS : KNOWN_WAIT_MS);
    } catch {
      if (remembered !== undefined) return remembered;
      throw new AbpError('overloaded', 'The key cannot be checked: the database of this server does not answer. Try again in a moment.');
    }
  }

  async #lookUp(hashed: string, now: number): Promise<KnownKey | undefined> {
    const key = await findKeyByHash(this.#store, hashed);
    const known = key === undefined ? undefined : { key, scopes: Scopes.parse(key.scopes) };
    if (this.#entries.size >= MOST_KNOWN) this.#entries.clear();
    this.#entries.set(hashed, { known, readAt: now });
    return known;
  }
}

/** A database that is away may also take a connection and stay silent. */
async function inTime<T>(work: Promise<T>, ms: number): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error('the database did not answer in time')), ms);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
    // The look-up that lost the race may still fail later; nobody waits for it any more.
    work.catch(() => undefined);
  }
}

function live(known: KnownKey | undefined, now: number): KnownKey | undefined {
  return known !== undefined && isLive(known.key, now) ? known : undefined;
}
