import { jsonOf } from '../../base/json.ts';
import type { KeyHolder } from '../../calls/budgets/ledger.ts';
import { CallLimits } from '../../calls/limits/call-limits.ts';
import { Role } from '../../calls/scopes.ts';
import { AbpError } from '../../contract/errors.ts';
import {
  changeTeam,
  changeUser,
  createTeam,
  createUser,
  deleteTeam,
  deleteUser,
  LOCKED_OUT,
  readPeople,
  type StoredUser,
  setHolder,
  type TeamEnd,
} from '../../store/people/people.ts';
import type { KeyHoldersTable, TeamsTable } from '../../store/people/people-schema.ts';
import type { Store } from '../../store/store.ts';
import { damaged, storedObject } from '../../store/text.ts';
import { NOBODYS, type Standing } from '../auth/key-ring.ts';

export interface Team {
  readonly id: string;
  readonly name: string;
  readonly limits: CallLimits;
  /** Whether its members see each other's runs. */
  readonly showsRuns: boolean;
  readonly createdAt: number;
  readonly members: readonly string[];
}

export interface User {
  readonly id: string;
  readonly name: string;
  /** Bounds every key of the user; undefined: each key may do what its own scopes say. */
  readonly role: Role | undefined;
  /** Suspended because no group at the issuer gives a role any more; one that an administrator suspends stays so whatever the groups give. */
  readonly lockedOut?: boolean | undefined;
  /** Who signs in as this user, in the words of the issuer. */
  readonly subject: string | null;
  /** The key that the user has when signed in. */
  readonly keyId: string | null;
  readonly createdAt: number;
  readonly teams: readonly string[];
}

/** Whose key it is. */
interface KeyOwner {
  readonly user: string | null;
  readonly team: string | null;
  readonly service: string | null;
}

type TeamTerms = Pick<Team, 'id' | 'name' | 'limits' | 'showsRuns'>;
type UserTerms = Pick<User, 'id' | 'name' | 'role' | 'teams'> & Partial<Pick<User, 'subject' | 'keyId' | 'lockedOut'>>;

const NO_TEAMS: readonly string[] = [];

/** Users, teams and whose keys are whose. Kept in memory, because every call asks. */
export class People {
  readonly #store: Store;
  #users: ReadonlyMap<string, User> = new Map();
  #teams: ReadonlyMap<string, Team> = new Map();
  #holders: ReadonlyMap<string, KeyHolder> = new Map();
  #owners: ReadonlyMap<string, KeyHoldersTable> = new Map();
  /** Made when first asked for, anew after every change. */
  #standings = new Map<string, Standing>();

  constructor(store: Store) {
    this.#store = store;
  }

  get users(): readonly User[] {
    return [...this.#users.values()];
  }

  get teams(): readonly Team[] {
    return [...this.#teams.values()];
  }

  user(id: string): User {
    const user = this.#users.get(id);
    if (user === undefined) throw new AbpError('not_found', `There is no user ${id}.`, { user: id });
    return user;
  }

  team(id: string): Team {
    const team = this.#teams.get(id);
    if (team === undefined) throw new AbpError('not_found', `There is no team ${id}.`, { team: id });
    return team;
  }

  knows(kind: 'user' | 'team', id: string): boolean {
    return (kind === 'user' ? this.#users : this.#teams).has(id);
  }

  /** Refuses names of people who are not there. */
  assertKnown(kind: 'user' | 'team', ids: readonly (string | null | undefined)[]): void {
    for (const id of ids) {
      if (id !== undefined && id !== null && !this.knows(kind, id)) {
        throw new AbpError('unprocessable', `There is no ${kind} ${id}.`, { [kind]: id });
      }
    }
  }

  /** The people on whose behalf a key is used: its user, its team, and the teams of its user. */
  holderOf(key: string): KeyHolder | undefined {
    return this.#holders.get(key);
  }

  teamsOf(key: string): readonly string[] {
    return this.#holders.get(key)?.teams ?? NO_TEAMS;
  }

  /** The limits of a team; undefined where it has none. */
  limitsOf(team: string): CallLimits | undefined {
    const limits = this.#teams.get(team)?.limits;
    return limits === undefined || Object.keys(limits).length === 0 ? undefined : limits;
  }

  /** Keys, dead ones too, whose use counts for a user or a team. */
  keysOf(kind: 'user' | 'team', id: string): readonly string[] {
    const counts = ({ user, teams }: KeyHolder): boolean => (kind === 'user' ? user === id : teams.includes(id));
    return [...this.#holders].flatMap(([key, holder]) => (counts(holder) ? [key] : []));
  }

  /** Keys, dead ones too, that were given to a team itself. */
  givenTo(team: string): readonly string[] {
    return [...this.#owners.values()].filter((row) => row.team_id === team).map((row) => row.key_id);
  }

  /** The user, the team and the service that a key was given to. */
  ownerOf(key: string): KeyOwner {
    const row = this.#owners.get(key);
    return { user: row?.user_id ?? null, team: row?.team_id ?? null, service: row?.service ?? null };
  }

  /** The rights and limits that a key has from its user and teams. The same object until something changes, because every call asks. */
  standingOf(key: string): Standing {
    const known = this.#standings.get(key);
    if (known !== undefined) return known;
    const owner = this.#owners.get(key);
    if (owner === undefined) return NOBODYS;
    const own = new Set([key, ...(owner.user_id === null ? [] : this.keysOf('user', owner.user_id))]);
    const shown = this.teamsOf(key).filter((team) => this.#teams.get(team)?.showsRuns === true);
    const seen = own.union(new Set(shown.flatMap((team) => this.keysOf('team', team))));
    const standing: Standing = { role: this.#users.get(owner.user_id ?? '')?.role, own: [...own], seen: [...seen] };
    this.#standings.set(key, standing);
    return standing;
  }

  async createTeam({ id, name, limits, showsRuns }: TeamTerms): Promise<Team> {
    await createTeam(this.#store, { ...teamRow({ id, name, limits, showsRuns }), created_at: Date.now() });
    await this.read();
    return this.team(id);
  }

  async changeTeam(team: TeamTerms): Promise<Team> {
    await changeTeam(this.#store, teamRow(team));
    await this.read();
    return this.team(team.id);
  }

  async deleteTeam(id: string, end: TeamEnd): Promise<void> {
    await deleteTeam(this.#store, this.team(id).id, end);
    await this.read();
  }

  async createUser(user: UserTerms): Promise<User> {
    this.assertKnown('team', user.teams);
    await createUser(this.#store, { ...userRow(user), created_at: Date.now() }, user.teams);
    await this.read();
    return this.user(user.id);
  }

  async changeUser(user: UserTerms): Promise<User> {
    this.assertKnown('team', user.teams);
    const { subject, keyId } = this.user(user.id);
    await changeUser(this.#store, userRow({ subject, keyId, ...user }), user.teams);
    await this.read();
    return this.user(user.id);
  }

  async deleteUser(id: string): Promise<void> {
    await deleteUser(this.#store, this.user(id).id);
    await this.read();
  }

  /** Refuses an owner that cannot be one: somebody unknown, or a person and a program at once. */
  assertOwner({ user, team, service }: Partial<KeyOwner>): void {
    this.assertKnown('user', [user]);
    this.assertKnown('team', [team]);
    if ((user ?? null) !== null && (service ?? null) !== null) {
      throw new AbpError('unprocessable', 'A key is a user’s or a service’s, not both.', { user: user ?? null, service: service ?? null });
    }
  }

  async give(key: string, owner: KeyOwner): Promise<void> {
    this.assertOwner(owner);
    await setHolder(this.#store, { key_id: key, user_id: owner.user, team_id: owner.team, service: owner.service });
    await this.read();
  }

  async read(): Promise<void> {
    const { users, teams, members, holders } = await readPeople(this.#store);
    const teamsOf = (user: string | null): string[] => members.filter((row) => row.user_id === user).map((row) => row.team_id);
    this.#users = new Map(
      users.map(({ id, name, role, subject, key_id: keyId, created_at: createdAt }) => {
        return [id, { id, name, ...storedRole(role), subject, keyId, createdAt, teams: teamsOf(id) }];
      }),
    );
    const before = this.#teams;
    this.#teams = new Map(
      teams.map(({ id, name, limits: text, shows_runs: showsRuns, created_at: createdAt }) => {
        const read = CallLimits.parse(storedObject('limits of a team', text));
        const known = before.get(id)?.limits;
        // The same object while nothing changes: it tells whether a team's use goes on.
        const limits = known !== undefined && JSON.stringify(jsonOf(known)) === JSON.stringify(jsonOf(read)) ? known : read;
        const ofTeam = members.filter((row) => row.team_id === id).map((row) => row.user_id);
        return [id, { id, name, createdAt, limits, showsRuns: showsRuns === 1, members: ofTeam }];
      }),
    );
    this.#owners = new Map(holders.map((row) => [row.key_id, row]));
    this.#holders = new Map(
      holders.map(({ key_id: key, user_id: user, team_id: team }) => {
        const all = new Set([...(team === null ? [] : [team]), ...teamsOf(user)]);
        return [key, { ...(user === null ? {} : { user }), teams: [...all] }];
      }),
    );
    this.#standings = new Map();
  }
}

function teamRow({ id, name, limits, showsRuns }: TeamTerms): Omit<TeamsTable, 'created_at'> {
  return { id, name, limits: JSON.stringify(limits), shows_runs: showsRuns ? 1 : 0 };
}

function userRow({ id, name, role, lockedOut = false, subject = null, keyId = null }: UserTerms): Omit<StoredUser, 'created_at'> {
  return { id, name, role: lockedOut ? LOCKED_OUT : (role ?? null), subject, key_id: keyId };
}

function storedRole(text: string | null): Pick<User, 'role' | 'lockedOut'> {
  if (text === null) return { role: undefined };
  if (text === LOCKED_OUT) return { role: 'suspended', lockedOut: true };
  const role = Role.safeParse(text);
  if (!role.success) throw damaged('role of a user', text);
  return { role: role.data };
}
