import { jsonOf } from '../../base/json.ts';
import type { KeyHolder } from '../../calls/budgets/ledger.ts';
import { CallLimits } from '../../calls/limits/call-limits.ts';
import { AbpError } from '../../contract/errors.ts';
import {
  changeTeam,
  changeUser,
  createTeam,
  createUser,
  deleteTeam,
  deleteUser,
  readPeople,
  setHolder,
} from '../../store/people/people.ts';
import type { KeyHoldersTable } from '../../store/people/people-schema.ts';
import type { Store } from '../../store/store.ts';
import { storedObject } from '../../store/text.ts';

export interface Team {
  readonly id: string;
  readonly name: string;
  readonly limits: CallLimits;
  readonly createdAt: number;
  readonly members: readonly string[];
}

export interface User {
  readonly id: string;
  readonly name: string;
  readonly createdAt: number;
  readonly teams: readonly string[];
}

/** Other nodes on the same database hear of a change this much later at the latest. */
const FRESH_MS = 5000;
const NO_TEAMS: readonly string[] = [];

/** Users, teams and whose keys are whose. Kept in memory, because every call asks. */
export class People {
  readonly #store: Store;
  #users: ReadonlyMap<string, User> = new Map();
  #teams: ReadonlyMap<string, Team> = new Map();
  #holders: ReadonlyMap<string, KeyHolder> = new Map();
  #owners: readonly KeyHoldersTable[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Reads them, and on a database that several nodes share goes on reading them. */
  async open(onFault: (error: unknown) => void): Promise<void> {
    await this.read();
    if (this.#store.kind !== 'postgres') return;
    this.#timer = setInterval(() => this.read().catch(onFault), FRESH_MS);
    this.#timer.unref();
  }

  close(): void {
    clearInterval(this.#timer);
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

  /** The user and the team that a key was given to. */
  ownerOf(key: string): { readonly user: string | null; readonly team: string | null } {
    const row = this.#owners.find(({ key_id: id }) => id === key);
    return { user: row?.user_id ?? null, team: row?.team_id ?? null };
  }

  async createTeam({ id, name, limits }: Pick<Team, 'id' | 'name' | 'limits'>): Promise<Team> {
    await createTeam(this.#store, { id, name, limits: JSON.stringify(limits), created_at: Date.now() });
    await this.read();
    return this.team(id);
  }

  async changeTeam({ id, name, limits }: Pick<Team, 'id' | 'name' | 'limits'>): Promise<Team> {
    await changeTeam(this.#store, { id, name, limits: JSON.stringify(limits) });
    await this.read();
    return this.team(id);
  }

  async deleteTeam(id: string): Promise<void> {
    await deleteTeam(this.#store, this.team(id).id);
    await this.read();
  }

  async createUser({ id, name, teams }: Pick<User, 'id' | 'name' | 'teams'>): Promise<User> {
    this.assertKnown('team', teams);
    await createUser(this.#store, { id, name, created_at: Date.now() }, teams);
    await this.read();
    return this.user(id);
  }

  async changeUser({ id, name, teams }: Pick<User, 'id' | 'name' | 'teams'>): Promise<User> {
    this.assertKnown('team', teams);
    await changeUser(this.#store, { id, name }, teams);
    await this.read();
    return this.user(id);
  }

  async deleteUser(id: string): Promise<void> {
    await deleteUser(this.#store, this.user(id).id);
    await this.read();
  }

  async give(key: string, { user, team }: { readonly user: string | null; readonly team: string | null }): Promise<void> {
    this.assertKnown('user', [user]);
    this.assertKnown('team', [team]);
    await setHolder(this.#store, { key_id: key, user_id: user, team_id: team });
    await this.read();
  }

  async read(): Promise<void> {
    const { users, teams, members, holders } = await readPeople(this.#store);
    const teamsOf = (user: string | null): string[] => members.filter((row) => row.user_id === user).map((row) => row.team_id);
    this.#users = new Map(users.map(({ id, name, created_at: createdAt }) => [id, { id, name, createdAt, teams: teamsOf(id) }]));
    const before = this.#teams;
    this.#teams = new Map(
      teams.map(({ id, name, limits: text, created_at: createdAt }) => {
        const read = CallLimits.parse(storedObject('limits of a team', text));
        const known = before.get(id)?.limits;
        // The same object while nothing changes: it tells whether a team's use goes on.
        const limits = known !== undefined && JSON.stringify(jsonOf(known)) === JSON.stringify(jsonOf(read)) ? known : read;
        return [id, { id, name, createdAt, limits, members: members.filter((row) => row.team_id === id).map((row) => row.user_id) }];
      }),
    );
    this.#owners = holders;
    this.#holders = new Map(
      holders.map(({ key_id: key, user_id: user, team_id: team }) => {
        const all = new Set([...(team === null ? [] : [team]), ...teamsOf(user)]);
        return [key, { ...(user === null ? {} : { user }), teams: [...all] }];
      }),
    );
  }
}
