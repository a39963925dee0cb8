import type { Selectable } from 'kysely';
import { uuidv7Hex } from '../base/ids.ts';
import type { JsonObject } from '../base/json.ts';
import { AbpError } from '../contract/errors.ts';
import { parseRunId, type RunId } from '../contract/run-id.ts';
import { hasForeignCodes, isGenuine, keyMac } from './key-mac.ts';
import { olderThan, type Page, type PageOptions, pageOf, pageSize } from './page.ts';
import { isOurSecretRow, secretRow } from './people/key-secrets.ts';
import { runKey } from './receipts/receipt-columns.ts';
import type { KeysTable } from './schema.ts';
import type { Store } from './store.ts';
import { storedTags, tagsColumn } from './tags.ts';
import { damaged, storableText, storedObject } from './text.ts';

/** `user` keys are given out by people; `run` keys are minted for one run and die with it. */
type KeyKind = 'user' | 'run';

/** A key as it is stored; the secret itself is never stored. */
export interface Key {
  readonly id: string;
  readonly kind: KeyKind;
  readonly name: string;
  readonly hash: string;
  /** The first characters of the secret, for people to recognise it. */
  readonly prefix: string;
  readonly scopes: JsonObject;
  /** Recording policy of runs made with this key; null follows the server's. */
  readonly recording: string | null;
  readonly tags: readonly string[];
  readonly createdAt: number;
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
  /** When its secret was last replaced. */
  readonly rotatedAt: number | null;
  /** When it was last shown, to within a minute. */
  readonly lastUsedAt: number | null;
  /** The sign-in by which it was found; null: by a secret of the key. */
  readonly signIn: string | null;
  readonly runId: RunId | null;
}

export interface NewKey {
  readonly kind: KeyKind;
  readonly name: string;
  readonly hash: string;
  readonly prefix: string;
  readonly scopes: JsonObject;
  readonly createdAt: number;
  readonly recording?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly expiresAt?: number | undefined;
  readonly runId?: RunId | undefined;
}

export interface KeyFilter extends PageOptions {
  readonly kind?: KeyKind | undefined;
  /** Leaves out keys of runs that have ended by this time. */
  readonly endedRunsAt?: number | undefined;
}

/** Whether the key opens anything at this time. */
export function isLive(key: Key, now: number): boolean {
  return key.revokedAt === null && (key.expiresAt === null || now < key.expiresAt);
}

export async function createKey(store: Store, key: NewKey): Promise<Key> {
  const made: Omit<Selectable<KeysTable>, 'mac'> = {
    id: `key_${uuidv7Hex()}`,
    kind: key.kind,
    name: storableText(key.name),
    hash: key.hash,
    prefix: key.prefix,
    scopes: JSON.stringify(key.scopes),
    recording: key.recording ?? null,
    tags: tagsColumn(key.tags ?? []),
    created_at: key.createdAt,
    expires_at: key.expiresAt ?? null,
    revoked_at: null,
    run_id: key.runId === undefined ? null : runKey(key.runId),
    rotated_at: null,
    last_used_at: null,
  };
  const row = { ...made, mac: keyMac(store.keySecret, made) };
  const result = await store.db
    .insertInto('keys')
    .values(row)
    .onConflict((conflict) => conflict.column('hash').doNothing())
    .executeTakeFirst();
  if (result.numInsertedOrUpdatedRows === 0n) throw new AbpError('conflict', 'this key exists already');
  return keyOf(row);
}

/** Also finds keys that are revoked or expired: ask `isLive`. A row that no process of ours wrote as it stands is no key. */
export async function findKeyByHash(store: Store, hash: string): Promise<Key | undefined> {
  const row = await store.db.selectFrom('keys').selectAll().where('hash', '=', storableText(hash)).executeTakeFirst();
  if (row === undefined) return await findKeyByOtherSecret(store, hash);
  return (await isOurs(store, row)) ? keyOf(row) : undefined;
}

/** The key that a secret beside its own opens: one that was replaced, or a sign-in. The key then ends with that secret. */
async function findKeyByOtherSecret(store: Store, hash: string): Promise<Key | undefined> {
  const secret = await store.db.selectFrom('key_secrets').selectAll().where('hash', '=', storableText(hash)).executeTakeFirst();
  if (secret === undefined || !(await isOurSecretRow(store, secret))) return undefined;
  const row = await store.db.selectFrom('keys').selectAll().where('id', '=', secret.key_id).executeTakeFirst();
  if (row === undefined || !(await isOurs(store, row))) return undefined;
  const key = keyOf(row);
  return {
    ...key,
    expiresAt: Math.min(secret.expires_at, key.expiresAt ?? secret.expires_at),
    signIn: secret.kind === 'retired' ? null : secret.id,
  };
}

/** A new secret of a key. */
interface NewSecret {
  readonly hash: string;
  readonly prefix: string;
  readonly expiresAt: number | null;
  /** Until when the secret before opens the key, too. */
  readonly overlapUntil: number;
  readonly now: number;
}

/** Replaces the secret of a key. Of two processes that do it at once, one gets `conflict`. */
export async function rotateKey(store: Store, id: string, secret: NewSecret): Promise<Key> {
  const row = await store.db.selectFrom('keys').selectAll().where('id', '=', storableText(id)).executeTakeFirst();
  if (row === undefined || !(await isOurs(store, row))) throw new AbpError('not_found', `There is no key ${id}.`, { key_id: id });
  const rotated = { ...row, hash: secret.hash, prefix: secret.prefix, expires_at: secret.expiresAt, rotated_at: secret.now };
  const { hash, prefix, expires_at, rotated_at } = rotated;
  const mac = keyMac(store.keySecret, rotated);
  await store.db.transaction().execute(async (change) => {
    const { numUpdatedRows } = await change
      .updateTable('keys')
      .set({ hash, prefix, expires_at, rotated_at, mac })
      .where('id', '=', row.id)
      .where('hash', '=', row.hash)
      .where('revoked_at', 'is', null)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) throw new AbpError('conflict', `The key ${id} was changed at the same time; look at it and try again.`);
    if (secret.overlapUntil <= secret.now) return;
    const retired = {
      hash: row.hash,
      keyId: row.id,
      kind: 'retired',
      label: row.prefix,
      now: secret.now,
      expiresAt: secret.overlapUntil,
    } as const;
    await change.insertInto('key_secrets').values(secretRow(store, retired)).execute();
  });
  return keyOf({ ...rotated, mac });
}

/** Notes that a key was shown. */
export async function touchKey(store: Store, id: string, now: number): Promise<void> {
  await store.db.updateTable('keys').set({ last_used_at: now }).where('id', '=', id).execute();
}

/** A key by its id, dead or alive. */
export async function findKey(store: Store, id: string): Promise<Key | undefined> {
  const row = await store.db.selectFrom('keys').selectAll().where('id', '=', storableText(id)).executeTakeFirst();
  return row === undefined ? undefined : keyOf(row);
}

async function isOurs(store: Store, row: Selectable<KeysTable>): Promise<boolean> {
  return isGenuine(store.keySecret, row) || (await hasForeignCodes(store));
}

/** Newest first, revoked and expired ones included. */
export async function listKeys(store: Store, filter: KeyFilter = {}): Promise<Page<Key>> {
  const size = pageSize(filter.limit);
  let query = store.db.selectFrom('keys').selectAll();
  if (filter.kind !== undefined) query = query.where('kind', '=', filter.kind);
  const { endedRunsAt: now } = filter;
  if (now !== undefined)
    query = query.where((eb) =>
      eb.or([
        eb('kind', '!=', 'run'),
        eb.and([eb('revoked_at', 'is', null), eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)])]),
      ]),
    );
  if (filter.cursor !== undefined) query = query.where(olderThan(filter.cursor));
  const rows = await query
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(size + 1)
    .execute();
  return pageOf(rows.map(keyOf), size, (key) => ({ time: key.createdAt, id: key.id }));
}

/** False when there is no such key. Revoking again keeps the first time. */
export async function revokeKey(store: Store, id: string, now: number): Promise<boolean> {
  const row = await store.db.selectFrom('keys').selectAll().where('id', '=', storableText(id)).executeTakeFirst();
  if (row === undefined) return false;
  await revoke(store, row, now);
  return true;
}

/** The code of the row says that it is revoked, too. A row that is none of ours stays none. */
async function revoke(store: Store, row: Selectable<KeysTable>, now: number): Promise<void> {
  if (row.revoked_at !== null) return;
  const revoked = { ...row, revoked_at: now };
  const mac = (await isOurs(store, row)) ? keyMac(store.keySecret, revoked) : row.mac;
  await store.db.updateTable('keys').set({ revoked_at: now, mac }).where('id', '=', row.id).where('revoked_at', 'is', null).execute();
}

/** Revokes the keys of runs: they die with them. */
export async function revokeRunKeys(store: Store, runs: readonly RunId[], now: number): Promise<void> {
  if (runs.length === 0) return;
  const rows = await store.db.selectFrom('keys').selectAll().where('kind', '=', 'run').where('run_id', 'in', runs.map(runKey)).execute();
  for (const row of rows) await revoke(store, row, now);
}

/** The key of a run, dead or alive. */
export async function findRunKey(store: Store, run: RunId): Promise<Key | undefined> {
  const row = await store.db.selectFrom('keys').selectAll().where('kind', '=', 'run').where('run_id', '=', runKey(run)).executeTakeFirst();
  return row === undefined ? undefined : keyOf(row);
}

/** Removes run keys that can no longer open anything; returns how many. */
export async function deleteExpiredRunKeys(store: Store, now: number): Promise<number> {
  const result = await store.db
    .deleteFrom('keys')
    .where('kind', '=', 'run')
    .where((eb) => eb.or([eb('expires_at', '<=', now), eb('revoked_at', '<=', now)]))
    .executeTakeFirst();
  return Number(result.numDeletedRows);
}

function keyOf(row: Selectable<KeysTable>): Key {
  if (row.kind !== 'user' && row.kind !== 'run') throw damaged('kind of a key', row.kind);
  return {
    id: row.id,
    kind: row.kind,
    name: row.name,
    hash: row.hash,
    prefix: row.prefix,
    scopes: storedObject('scopes', row.scopes),
    recording: row.recording,
    tags: storedTags(row.tags),
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    rotatedAt: row.rotated_at,
    lastUsedAt: row.last_used_at,
    signIn: null,
    runId: row.run_id === null ? null : (parseRunId(row.run_id) ?? null),
  };
}

/** Names of keys by their ids; ids that no key has are left out. */
export async function keyNames(store: Store, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await store.db.selectFrom('keys').select(['id', 'name']).where('id', 'in', ids).execute();
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** When the last run with each of these keys began, by its receipt. */
export async function lastUses(store: Store, ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const uses = await Promise.all(
    ids.map(async (id) => {
      // One look at the index of each key; a grouped maximum would read every receipt of theirs.
      const row = await store.db
        .selectFrom('receipts')
        .select('started_at')
        .where('key_id', '=', id)
        .orderBy('started_at', 'desc')
        .limit(1)
        .executeTakeFirst();
      return row === undefined ? [] : [[id, Number(row.started_at)] as const];
    }),
  );
  return new Map(uses.flat());
}

/** Ids of the keys that people gave this name, dead ones included; run keys have names of their own. */
export async function keyIdsByName(store: Store, name: string): Promise<readonly string[]> {
  const rows = await store.db
    .selectFrom('keys')
    .select('id')
    .where('kind', '=', 'user')
    .where('name', '=', storableText(name))
    .orderBy('created_at', 'desc')
    .limit(10)
    .execute();
  return rows.map(({ id }) => id);
}
