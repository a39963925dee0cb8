import { canonicalJson } from '../../base/canonical-json.ts';
import { randomToken } from '../../base/ids.ts';
import type { JsonObject } from '../../base/json.ts';
import type { Role } from '../../calls/scopes.ts';
import { AbpError } from '../../contract/errors.ts';
import { createKey, findKey, isLive } from '../../store/keys.ts';
import { addSignIn, listSignIns, removeSignIn, removeSignInsOf, type SecretKind } from '../../store/people/key-secrets.ts';
import type { KeySecretsTable } from '../../store/people/people-schema.ts';
import type { Store } from '../../store/store.ts';
import { type AuditAct, type AuditLog, SYSTEM } from '../audit/audit-log.ts';
import { hashSecret, type KeyRing } from '../auth/key-ring.ts';
import type { People, User } from '../people/people.ts';
import { Issuer, type Person } from './issuer.ts';
import type { OidcConfig } from './oidc-config.ts';

const HOUR_MS = 3600 * 1000;
const SHOWN = 12;
const USER_ID = /[^A-Za-z0-9._@+-]/g;
const MOST_ID = 100;

/** Somebody who has signed in: the secret is told once. */
export interface SignedIn {
  readonly secret: string;
  readonly user: User;
  readonly row: KeySecretsTable;
}

interface Keeping {
  readonly store: Store;
  readonly people: People;
  readonly keys: KeyRing;
  readonly audit: AuditLog;
  /** Tells the other nodes that people or keys have changed. */
  readonly tell: () => Promise<void>;
}

/** The role and teams that the operator gives to a person's groups at the issuer. */
interface Mapped {
  readonly role: Role | undefined;
  readonly teams: readonly string[];
}

/**
 * People who sign in with the issuer. Each user has one key of their own, which every sign-in of theirs opens with a secret of its own:
 * so runs stay theirs from one sign-in to the next, and a sign-in can be ended by itself.
 */
export class SignIns {
  readonly issuer: Issuer;
  readonly #config: OidcConfig;
  readonly #keeping: Keeping;

  constructor(config: OidcConfig, keeping: Keeping) {
    this.issuer = new Issuer(config);
    this.#config = config;
    this.#keeping = keeping;
  }

  /**
   * Lets somebody in as the user that they are, with the teams and the role that their groups give today. What that changes is in the audit
   * log, and holds on every node when somebody is in.
   */
  async admit(person: Person, kind: Exclude<SecretKind, 'retired'>, label: string): Promise<SignedIn> {
    const { people, keys, tell } = this.#keeping;
    // The person may have signed in on another node a moment ago.
    await people.read();
    const known = people.users.find(({ subject }) => subject === person.subject);
    const mapped = this.#mapped(person);
    const { role } = mapped;
    try {
      assertNotSuspended(known);
      if (role === undefined) throw await this.#lockedOut(person, known, mapped);
      const user = await this.#user(person, known, mapped, role);
      const keyId = await this.#keyOf(user);
      const act = { action: 'sign_in.create', details: { user: user.id, via: kind, label } };
      return await this.#recorded(
        act,
        () => this.#signedIn(user, { keyId, kind, label }),
        ({ row }) => row.id,
      );
    } finally {
      keys.forget();
      await tell();
    }
  }

  async #signedIn(
    user: User,
    { keyId, kind, label }: { keyId: string; kind: Exclude<SecretKind, 'retired'>; label: string },
  ): Promise<SignedIn> {
    const now = Date.now();
    const secret = `abp_${randomToken(32)}`;
    const expiresAt = now + this.#config.hours * HOUR_MS;
    const row = await addSignIn(this.#keeping.store, { hash: hashSecret(secret), keyId, kind, label, now, expiresAt });
    return { secret, user: this.#keeping.people.user(user.id), row };
  }

  /**
   * Somebody who lost the last group loses everything that is open: sign-ins, teams, and what keys open that were made for them. The keys
   * stay, and open something again once a group gives a role.
   */
  async #lockedOut(person: Person, known: User | undefined, mapped: Mapped): Promise<AbpError> {
    const { store } = this.#keeping;
    if (known?.keyId) await removeSignInsOf(store, known.keyId);
    if (known !== undefined)
      await this.#changed(known, { ...known, role: 'suspended', lockedOut: true, teams: this.#teamsOf(known, mapped) });
    return new AbpError('forbidden', 'You are in none of the groups that may use this server. Ask its administrator.', {
      groups: this.#groups(person),
    });
  }

  /** The server itself does this, because of what the issuer says. */
  async #recorded<T>(act: AuditAct, work: () => Promise<T>, targetOf?: (result: T) => string): Promise<T> {
    return await this.#keeping.audit.around(SYSTEM, act, work, targetOf);
  }

  /** A user as the issuer has it now; nothing is done where that is as before. */
  async #changed(before: User, after: User): Promise<User> {
    const told = ({ role, subject, teams }: User): JsonObject => ({ role: role ?? null, subject, teams: teams.toSorted() });
    if (canonicalJson(told(before)) === canonicalJson(told(after))) return before;
    const { role, teams } = after;
    const act = { action: 'user.change', target: before.id, details: { by: 'issuer', role: role ?? null, teams: [...teams] } };
    return await this.#recorded(act, () => this.#keeping.people.changeUser(after));
  }

  #groups({ claims }: Person): string[] {
    const told = claims[this.#config.groups_claim];
    return (Array.isArray(told) ? told : [told]).filter((group) => typeof group === 'string');
  }

  /** In the order of the file: the first group with a role decides. */
  #mapped(person: Person): Mapped {
    const groups = new Set(this.#groups(person));
    const rows = Object.entries(this.#config.groups).filter(([name]) => groups.has(name));
    return {
      role: rows.find(([, { role }]) => role !== undefined)?.[1].role ?? this.#config.role,
      teams: [...new Set(rows.flatMap(([, { team }]) => team ?? []))],
    };
  }

  /** Teams that groups stand for are those of today's groups; others are the administrator's business. */
  #teamsOf(known: User | undefined, { teams }: Mapped): string[] {
    const governed = new Set(Object.values(this.#config.groups).flatMap(({ team }) => team ?? []));
    return [...new Set([...(known?.teams ?? []).filter((team) => !governed.has(team)), ...teams])];
  }

  async #user(person: Person, known: User | undefined, mapped: Mapped, role: Role): Promise<User> {
    const { people } = this.#keeping;
    for (const id of mapped.teams) if (!people.knows('team', id)) await this.#newTeam(id);
    const user = known ?? this.#unlinked(person);
    assertNotSuspended(user);
    const teams = this.#teamsOf(user, mapped);
    const { name } = person.claims;
    const { subject } = person;
    if (user !== undefined) return await this.#changed(user, { ...user, subject, role, lockedOut: false, teams });
    const id = this.#idOf(person);
    const terms = { id, name: typeof name === 'string' ? name.slice(0, 200) : id, role, teams, subject };
    const act = { action: 'user.create', target: id, details: { by: 'issuer', role, teams } };
    return await this.#recorded(act, () => people.createUser(terms));
  }

  async #newTeam(id: string): Promise<void> {
    const act = { action: 'team.create', target: id, details: { by: 'issuer' } };
    await this.#recorded(act, () => this.#keeping.people.createTeam({ id, name: id, limits: {}, showsRuns: false }));
  }

  /** A user whom an administrator has made beforehand. An address that nobody has confirmed proves nothing. */
  #unlinked(person: Person): User | undefined {
    const { people } = this.#keeping;
    const id = this.#idOf(person);
    if (!people.knows('user', id)) return undefined;
    const user = people.user(id);
    const { user_claim: claim } = this.#config;
    // Letters that ids do not have are written as others: who is called nearly so is somebody else.
    const isProved = person.claims[claim] === id && (claim !== 'email' || person.claims.email_verified === true);
    if (user.subject === null && isProved) return user;
    throw new AbpError('conflict', `There is a user ${id} already, who signs in as somebody else. Ask the administrator.`, { user: id });
  }

  #idOf({ claims, subject }: Person): string {
    const told = claims[this.#config.user_claim];
    const text = typeof told === 'string' && told !== '' ? told : (subject.split(' ')[1] ?? subject);
    return (
      text
        .replaceAll(USER_ID, '-')
        .replace(/^[^A-Za-z0-9]+/, '')
        .slice(0, MOST_ID) || 'user'
    );
  }

  /** The user's own key, whose secret nobody has: sign-ins open it. */
  async #keyOf(user: User): Promise<string> {
    const { store, people } = this.#keeping;
    const known = user.keyId === null ? undefined : await findKey(store, user.keyId);
    if (known !== undefined && isLive(known, Date.now())) return known.id;
    const act = { action: 'key.create', details: { by: 'issuer', user: user.id } };
    const make = async (): Promise<string> => {
      const unknown = `abp_${randomToken(32)}`;
      const [name, hash, prefix] = [`sign-ins of ${user.id}`, hashSecret(unknown), unknown.slice(0, SHOWN)];
      const key = await createKey(store, { kind: 'user', name, hash, prefix, scopes: {}, createdAt: Date.now() });
      await people.give(key.id, { user: user.id, team: null, service: null });
      await people.changeUser({ ...user, keyId: key.id });
      return key.id;
    };
    return await this.#recorded(act, make, (id) => id);
  }

  /** Sign-ins that have not ended: of one user, or of everybody. */
  async list(user?: string): Promise<{ readonly row: KeySecretsTable; readonly user: string }[]> {
    const { store, people } = this.#keeping;
    const rows = await listSignIns(store, Date.now());
    return rows
      .map((row) => ({ row, user: people.ownerOf(row.key_id).user ?? '' }))
      .filter((one) => user === undefined || one.user === user);
  }

  async end(id: string): Promise<void> {
    await removeSignIn(this.#keeping.store, id);
    this.#keeping.keys.forget();
  }
}

/** A user whom an administrator has suspended stays out, whatever the groups say. */
function assertNotSuspended(user: User | undefined): void {
  if (user?.role !== 'suspended' || user.lockedOut === true) return;
  throw new AbpError('forbidden', 'An administrator has suspended you here. Ask the administrator.', { user: user.id });
}
