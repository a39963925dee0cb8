import { randomToken, uuidv7Hex } from '../../base/ids.ts';
import { isJsonObject, type Json } from '../../base/json.ts';
import { AbpError } from '../../contract/errors.ts';
import { hasForeignCodes, rowMac } from '../../store/key-mac.ts';
import { removePushSubscriptions } from '../../store/notices/push-subscriptions.ts';
import { deleteSetting, getSetting, listSettings, setSetting } from '../../store/settings.ts';
import type { Store } from '../../store/store.ts';
import { hashSecret } from '../auth/key-ring.ts';

/** `all`: whatever the holder of the home's token may do. `answer`: read, and answer what agents ask. */
export type ConsoleScope = 'all' | 'answer';

/** A browser that was let in. */
export interface ConsoleSession {
  readonly id: string;
  readonly scope: ConsoleScope;
  /** The user whose runs and questions it may see and answer; undefined: everybody's. */
  readonly user?: string;
  /** The browser, as it names itself. */
  readonly label: string;
  readonly createdAt: number;
  readonly expiresAt: number;
}

interface Invitation {
  readonly scope: ConsoleScope;
  readonly user: string | undefined;
  readonly expiresAt: number;
}

interface Known {
  readonly session: ConsoleSession | undefined;
  readonly readAt: number;
}

const PREFIX = 'console_session/';
const SESSION_MS: Readonly<Record<ConsoleScope, number>> = { all: 30 * 24 * 3600 * 1000, answer: 12 * 3600 * 1000 };
/** A browser that was signed out is refused at the latest this much later by other processes. */
const FRESH_MS = 5000;
const MOST_INVITATIONS = 100;
const MOST_KNOWN = 1000;

/**
 * Browsers that hold a cookie of ours. A code lets one browser in, once: it lives in the memory of the process that made it. Of the
 * cookie only the hash is stored, so that a restart signs nobody out and a stolen database lets nobody in.
 */
export class ConsoleSessions {
  readonly #store: Store;
  readonly #invitations = new Map<string, Invitation>();
  readonly #known = new Map<string, Known>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** A code that lets one browser in. */
  invite(scope: ConsoleScope, ttlMs: number, user?: string): { readonly code: string; readonly expiresAt: number } {
    const now = Date.now();
    for (const [hash, { expiresAt }] of this.#invitations) if (expiresAt <= now) this.#invitations.delete(hash);
    const [oldest] = this.#invitations.keys();
    if (this.#invitations.size >= MOST_INVITATIONS && oldest !== undefined) this.#invitations.delete(oldest);
    const code = randomToken(24);
    const expiresAt = now + ttlMs;
    this.#invitations.set(hashSecret(code), { scope, user, expiresAt });
    return { code, expiresAt };
  }

  /** Lets the browser in that shows a code; the code is void from then on. */
  async redeem(code: string, label: string): Promise<{ readonly secret: string; readonly session: ConsoleSession }> {
    const hash = hashSecret(code);
    const invitation = this.#invitations.get(hash);
    this.#invitations.delete(hash);
    const now = Date.now();
    if (invitation === undefined || invitation.expiresAt <= now) {
      throw new AbpError('unauthenticated', 'This link was used before or is too old; `abp console` prints a fresh one.');
    }
    const { scope, user } = invitation;
    const secret = randomToken(32);
    const times = { createdAt: now, expiresAt: now + SESSION_MS[scope] };
    const session: ConsoleSession = { id: uuidv7Hex(now), scope, ...(user === undefined ? {} : { user }), label, ...times };
    const cookie = hashSecret(secret);
    await setSetting(this.#store, `${PREFIX}${cookie}`, { ...session, mac: macOf(this.#store, cookie, session) });
    await this.#sweep(now);
    return { secret, session };
  }

  /** The session of a cookie. At once where the answer is remembered. */
  find(secret: string): ConsoleSession | undefined | Promise<ConsoleSession | undefined> {
    return this.findByHash(hashSecret(secret));
  }

  /** The session whose cookie has this hash. */
  findByHash(hash: string): ConsoleSession | undefined | Promise<ConsoleSession | undefined> {
    const now = Date.now();
    const known = this.#known.get(hash);
    if (known !== undefined && now - known.readAt < FRESH_MS) return live(known.session, now);
    return this.#read(hash, now);
  }

  async list(): Promise<ConsoleSession[]> {
    const rows = await listSettings(this.#store, PREFIX);
    const sessions = await Promise.all(rows.map(({ name, value }) => this.#genuine(name.slice(PREFIX.length), value)));
    return sessions.flatMap((session) => live(session, Date.now()) ?? []);
  }

  /** Another node may have signed somebody out. */
  forget(): void {
    this.#known.clear();
  }

  /** Signs a browser out, which is told nothing any more; false when there is none of that id. */
  async revoke(id: string): Promise<boolean> {
    const rows = await listSettings(this.#store, PREFIX);
    const row = rows.find(({ value }) => sessionOf(value)?.id === id);
    if (row === undefined) return false;
    await this.#remove(row.name);
    this.#known.clear();
    return true;
  }

  async #read(hash: string, now: number): Promise<ConsoleSession | undefined> {
    const value = await getSetting(this.#store, `${PREFIX}${hash}`);
    const session = value === undefined ? undefined : await this.#genuine(hash, value);
    if (this.#known.size >= MOST_KNOWN) this.#known.clear();
    this.#known.set(hash, { session, readAt: now });
    return live(session, now);
  }

  /** A session that somebody else wrote into the database lets nobody in. */
  async #genuine(cookie: string, value: Json): Promise<ConsoleSession | undefined> {
    const session = sessionOf(value);
    const mac = isJsonObject(value) ? value.mac : undefined;
    const isOurs = session !== undefined && (mac === macOf(this.#store, cookie, session) || (await hasForeignCodes(this.#store)));
    return isOurs ? session : undefined;
  }

  async #sweep(now: number): Promise<void> {
    for (const { name, value } of await listSettings(this.#store, PREFIX)) {
      if (live(await this.#genuine(name.slice(PREFIX.length), value), now) === undefined) await this.#remove(name);
    }
  }

  async #remove(name: string): Promise<void> {
    await deleteSetting(this.#store, name);
    await removePushSubscriptions(this.#store, 'session', name.slice(PREFIX.length));
  }
}

/** The user stands in the code where there is one: taking it out of the row would make a browser see more. */
function macOf({ keySecret }: Store, cookie: string, { id, scope, expiresAt, user }: ConsoleSession): string {
  return rowMac(keySecret, 'browser', [cookie, id, scope, expiresAt, ...(user === undefined ? [] : [user])]);
}

function live(session: ConsoleSession | undefined, now: number): ConsoleSession | undefined {
  return session !== undefined && session.expiresAt > now ? session : undefined;
}

function sessionOf(value: Json): ConsoleSession | undefined {
  if (!isJsonObject(value)) return undefined;
  const { id, scope, label, createdAt, expiresAt, user } = value;
  if (typeof id !== 'string' || typeof label !== 'string' || (scope !== 'all' && scope !== 'answer')) return undefined;
  if (typeof createdAt !== 'number' || typeof expiresAt !== 'number') return undefined;
  return { id, scope, label, createdAt, expiresAt, ...(typeof user === 'string' ? { user } : {}) };
}
