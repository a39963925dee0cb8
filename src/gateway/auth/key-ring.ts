import { hash, timingSafeEqual } from 'node:crypto';
import { type Role, Scopes } from '../../calls/scopes.ts';
import { AbpError } from '../../contract/errors.ts';
import { findKeyByHash, isLive, type Key, touchKey } from '../../store/keys.ts';
import type { Store } from '../../store/store.ts';
import { mayGoOn } from './going-on.ts';
import { type KeyRights, rightsOfKey } from './rights.ts';

/** A revoked key is refused at the latest this much later by other processes; the one that revokes forgets it at once. */
const FRESH_MS = 5000;
const MOST_KNOWN = 10_000;
/** How exactly it is known when a key was last used. */
const TOUCH_MS = 60_000;

/** The rights and limits that a key has because it is a user's or a team's. */
export interface Standing {
  /** The role of the user whose key it is. */
  readonly role: Role | undefined;
  /** All keys of its user. */
  readonly own: readonly string[];
  /** The same, and those whose runs its teams show to their members. */
  readonly seen: readonly string[];
}

/** The standing of a key that is nobody's. */
export const NOBODYS: Standing = { role: undefined, own: [], seen: [] };

export interface KnownKey extends KeyRights {
  readonly key: Key;
  /** The key itself and the other keys of its user, or also those whose runs its teams show it. */
  keys(reach: 'own' | 'seen'): readonly string[];
}

/** A key as the database has it, and as it counted when it was last asked for. */
interface Found {
  readonly key: Key;
  readonly scopes: Scopes;
  standing: Standing;
  known: KnownKey;
}

interface Entry {
  readonly found: Found | undefined;
  /** When the database was asked; earlier where what it said is in doubt. */
  readonly readAt: number;
}

interface KeyRingOptions {
  /** How long a key that the database confirmed keeps working while the database does not answer. */
  readonly rememberedMs?: number;
  /** The same object as long as nothing about the holder of the key has changed. */
  readonly standingOf?: (keyId: string) => Standing;
}

/** How long a lookup is waited for when the key is known from before, and when it is not. */
const KNOWN_WAIT_MS = 1000;
const UNKNOWN_WAIT_MS = 5000;

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
  readonly #standingOf: (keyId: string) => Standing;
  readonly #entries = new Map<string, Entry>();

  constructor(store: Store, token: string, { rememberedMs = DEFAULT_REMEMBERED_MS, standingOf = () => NOBODYS }: KeyRingOptions = {}) {
    this.#store = store;
    this.#rememberedMs = rememberedMs;
    this.#standingOf = standingOf;
    this.#token = digestOf(token);
    this.#tokenLength = token.length;
  }

  isToken(secret: string): boolean {
    // The length is no secret, and it spares hashing every caller's own vendor key.
    return secret.length === this.#tokenLength && timingSafeEqual(digestOf(secret), this.#token);
  }

  /** The live key of a secret; undefined when there is none. At once where the answer is remembered. */
  find(secret: string): KnownKey | undefined | Promise<KnownKey | undefined> {
    return this.findByHash(hashSecret(secret));
  }

  /** The live key that a secret of this hash opens. */
  findByHash(hashed: string): KnownKey | undefined | Promise<KnownKey | undefined> {
    const now = Date.now();
    const entry = this.#entries.get(hashed);
    if (entry !== undefined && now - entry.readAt < FRESH_MS) return this.#live(entry.found, now);
    return this.#read(hashed, now, entry).then((found) => this.#live(found, now));
  }

  forget(): void {
    this.#entries.clear();
  }

  /** Another node has changed something: the database is asked about every key again. While it does not answer, what it said before holds. */
  doubt(): void {
    for (const [hashed, { found, readAt }] of this.#entries) this.#entries.set(hashed, { found, readAt: readAt - FRESH_MS });
  }

  /** From the database; while that does not answer, from what it said not long ago. */
  async #read(hashed: string, now: number, before: Entry | undefined): Promise<Found | undefined> {
    const remembered = before?.found !== undefined && now - before.readAt < this.#rememberedMs ? before.found : undefined;
    try {
      return await inTime(this.#lookUp(hashed, now), remembered === undefined ? UNKNOWN_WAIT_MS : KNOWN_WAIT_MS);
    } catch {
      if (remembered !== undefined) return remembered;
      throw new AbpError('overloaded', 'The key cannot be checked: the database of this server does not answer. Try again in a moment.');
    }
  }

  async #lookUp(hashed: string, now: number): Promise<Found | undefined> {
    const key = await findKeyByHash(this.#store, hashed);
    const found = key === undefined || (await this.#hasEnded(key)) ? undefined : this.#found(key);
    if (this.#entries.size >= MOST_KNOWN) this.#entries.clear();
    this.#entries.set(hashed, { found, readAt: now });
    if (key !== undefined && isLive(key, now)) this.#touch(key, now);
    return found;
  }

  /** Whether the key of a run is one of a caller who may have no run any more. */
  async #hasEnded({ kind, scopes }: Key): Promise<boolean> {
    const owner = kind === 'run' ? Scopes.parse(scopes).run?.owner : undefined;
    return typeof owner === 'string' && !(await mayGoOn(this.#store, owner, 'runs'));
  }

  /** Nobody waits for the note that a key was shown; one that cannot be written is written with the next look-up. */
  #touch(key: Key, now: number): void {
    if (key.kind === 'run' || now - (key.lastUsedAt ?? 0) < TOUCH_MS) return;
    touchKey(this.#store, key.id, now).catch(() => undefined);
  }

  #found(key: Key): Found {
    const scopes = Scopes.parse(key.scopes);
    const standing = this.#standingOf(key.id);
    return { key, scopes, standing, known: knownKey(key, scopes, standing) };
  }

  #live(found: Found | undefined, now: number): KnownKey | undefined {
    if (found === undefined || !isLive(found.key, now)) return undefined;
    const standing = this.#standingOf(found.key.id);
    if (standing !== found.standing) {
      found.standing = standing;
      found.known = knownKey(found.key, found.scopes, standing);
    }
    return found.known;
  }
}

/** A key as it counts now. */
export function knownKey(key: Key, scopes: Scopes, standing: Standing = NOBODYS): KnownKey {
  const lists = { own: standing.own.length === 0 ? [key.id] : standing.own, seen: standing.seen.length === 0 ? [key.id] : standing.seen };
  return { key, keys: (reach) => lists[reach], ...rightsOfKey(scopes, standing.role) };
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
