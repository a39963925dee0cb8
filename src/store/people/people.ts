import type { Transaction } from 'kysely';
import { isoTime } from '../../base/clock.ts';
import { AbpError } from '../../contract/errors.ts';
import { deleteBudget } from '../budgets/budgets.ts';
import { hasForeignCodes, rowMac } from '../key-mac.ts';
import { revokeKey } from '../keys.ts';
import type { Tables } from '../schema.ts';
import type { Store } from '../store.ts';
import { storableText } from '../text.ts';
import type { KeyHoldersTable, TeamsTable, UsersTable } from './people-schema.ts';

/** The role, in a row, of a user whose groups at the issuer give none any more. It opens nothing, as `suspended` does. */
export const LOCKED_OUT = 'locked-out';

/** A user with the role that a process of ours gave. */
export type StoredUser = Omit<UsersTable, 'mac'>;

/** Everybody who is known, at one moment. */
export interface AllPeople {
  readonly users: readonly StoredUser[];
  readonly teams: readonly TeamsTable[];
  readonly members: readonly { readonly team_id: string; readonly user_id: string }[];
  readonly holders: readonly KeyHoldersTable[];
}

export async function readPeople(store: Store): Promise<AllPeople> {
  const { db } = store;
  const users = await db.selectFrom('users').selectAll().orderBy('id').execute();
  const trustsAll = users.some(({ mac }) => mac !== null) && (await hasForeignCodes(store));
  return {
    users: users.map(({ mac, ...user }) => (trustsAll || mac === userMac(store, user) ? user : { ...user, ...NOBODY_IN_PARTICULAR })),
    teams: await db.selectFrom('teams').selectAll().orderBy('id').execute(),
    members: await db.selectFrom('team_members').selectAll().orderBy('team_id').orderBy('user_id').execute(),
    holders: await db.selectFrom('key_holders').selectAll().execute(),
  };
}

/** The role of the user whose key it is. It only takes away, so that nobody has to vouch for it; null: none, or nobody's. */
export async function roleOfHolder({ db }: Store, keyId: string): Promise<string | null> {
  const held = db.selectFrom('key_holders').innerJoin('users', 'users.id', 'key_holders.user_id');
  const row = await held.select('users.role').where('key_holders.key_id', '=', keyId).executeTakeFirst();
  return row?.role ?? null;
}

/** The part of a user that counts only with its code. */
const NOBODY_IN_PARTICULAR = { role: null, subject: null, key_id: null };

function userMac({ keySecret }: Store, { id, role, subject, key_id }: Omit<StoredUser, 'name' | 'created_at'>): string {
  return rowMac(keySecret, 'user', [id, role, subject, key_id]);
}

export async function createTeam({ db }: Store, team: TeamsTable): Promise<void> {
  const row = { ...team, name: storableText(team.name) };
  const { numInsertedOrUpdatedRows: made } = await db
    .insertInto('teams')
    .values(row)
    .onConflict((conflict) => conflict.column('id').doNothing())
    .executeTakeFirst();
  if (made === 0n) throw new AbpError('conflict', `There is a team ${team.id} already.`, { team: team.id });
}

export async function changeTeam({ db }: Store, { id, name, limits, shows_runs }: Omit<TeamsTable, 'created_at'>): Promise<void> {
  await db
    .updateTable('teams')
    .set({ name: storableText(name), limits, shows_runs })
    .where('id', '=', id)
    .execute();
}

/** The keys and budgets of a team that is deleted, and which of them go with it. */
export interface TeamEnd {
  /** Every key that was given to the team, as its deleter knows them. */
  readonly keys: readonly string[];
  readonly revoked: readonly string[];
  readonly budgets: readonly string[];
}

/** Deletes a team, and in the same transaction what goes with it. A key or a budget that it has got meanwhile is a conflict. */
export async function deleteTeam(store: Store, id: string, { keys, revoked, budgets }: TeamEnd): Promise<void> {
  const now = Date.now();
  await store.db.transaction().execute(async (change) => {
    const within: Store = { ...store, db: change };
    for (const key of revoked) await revokeKey(within, key, now);
    for (const budget of budgets) await deleteBudget(within, budget);
    const held = await change.updateTable('key_holders').set({ team_id: null }).where('team_id', '=', id).returning('key_id').execute();
    const left = await change.selectFrom('budgets').select('id').where('on_kind', '=', 'team').where('on_id', '=', id).execute();
    if (left.length > 0 || held.some(({ key_id }) => !keys.includes(key_id))) {
      throw new AbpError('conflict', `The team ${id} got a key or a budget at the same time; look at it and try again.`, { team: id });
    }
    await change.deleteFrom('team_members').where('team_id', '=', id).execute();
    await change.deleteFrom('teams').where('id', '=', id).execute();
  });
}

export async function createUser(store: Store, user: StoredUser, teams: readonly string[]): Promise<void> {
  await store.db.transaction().execute(async (change) => {
    const { numInsertedOrUpdatedRows: made } = await change
      .insertInto('users')
      .values({ ...user, name: storableText(user.name), mac: userMac(store, user) })
      .onConflict((conflict) => conflict.column('id').doNothing())
      .executeTakeFirst();
    if (made === 0n) throw new AbpError('conflict', `There is a user ${user.id} already.`, { user: user.id });
    // Somebody before was called the same and is deleted: those keys, and what was said with them, are not the new one's. No id looks like this.
    const earlier = `${user.id} (before ${isoTime(user.created_at)})`;
    await change.updateTable('key_holders').set({ user_id: earlier }).where('user_id', '=', user.id).execute();
    await join(change, user.id, teams);
  });
}

export async function changeUser(
  store: Store,
  { id, name, role, subject, key_id }: Omit<StoredUser, 'created_at'>,
  teams: readonly string[],
): Promise<void> {
  await store.db.transaction().execute(async (change) => {
    await change
      .updateTable('users')
      .set({ name: storableText(name), role, subject, key_id, mac: userMac(store, { id, role, subject, key_id }) })
      .where('id', '=', id)
      .execute();
    await change.deleteFrom('team_members').where('user_id', '=', id).execute();
    await join(change, id, teams);
  });
}

async function join(db: Transaction<Tables>, user: string, teams: readonly string[]): Promise<void> {
  if (teams.length === 0) return;
  await db
    .insertInto('team_members')
    .values([...new Set(teams)].map((team) => ({ team_id: team, user_id: user })))
    .execute();
}

/** The keys of a deleted user stay its own by name, so that nobody else is taken for their holder. */
export async function deleteUser({ db }: Store, id: string): Promise<void> {
  await db.transaction().execute(async (change) => {
    await change.deleteFrom('team_members').where('user_id', '=', id).execute();
    await change.deleteFrom('users').where('id', '=', id).execute();
  });
}

/** Says whose key it is. */
export async function setHolder({ db }: Store, holder: KeyHoldersTable): Promise<void> {
  await db
    .insertInto('key_holders')
    .values(holder)
    .onConflict((conflict) =>
      conflict.column('key_id').doUpdateSet((eb) => ({
        user_id: eb.ref('excluded.user_id'),
        team_id: eb.ref('excluded.team_id'),
        service: eb.ref('excluded.service'),
      })),
    )
    .execute();
}
