import { uuidv7Hex } from '../../base/ids.ts';
import { hasForeignCodes, rowMac } from '../key-mac.ts';
import { removePushSubscriptions } from '../notices/push-subscriptions.ts';
import type { Store } from '../store.ts';
import { storableText } from '../text.ts';
import type { KeySecretsTable } from './people-schema.ts';

/** `retired`: the key had it before. `browser` and `command`: somebody signed in there. */
export type SecretKind = 'retired' | 'browser' | 'command';

export interface NewKeySecret {
  readonly hash: string;
  readonly keyId: string;
  readonly kind: SecretKind;
  readonly label: string;
  readonly now: number;
  readonly expiresAt: number;
}

function macOf({ keySecret }: Store, { id, hash, key_id, kind, expires_at }: Omit<KeySecretsTable, 'mac'>): string {
  return rowMac(keySecret, 'secret of a key', [id, hash, key_id, kind, expires_at]);
}

/** The row of a further secret of a key. */
export function secretRow(store: Store, { hash, keyId, kind, label, now, expiresAt }: NewKeySecret): KeySecretsTable {
  const id = `sign_in_${uuidv7Hex(now)}`;
  const row = { id, hash, key_id: keyId, kind, label: storableText(label), created_at: now, expires_at: expiresAt };
  return { ...row, mac: macOf(store, row) };
}

/** Whether a process of ours wrote the row as it stands. */
export async function isOurSecretRow(store: Store, row: KeySecretsTable): Promise<boolean> {
  return row.mac === macOf(store, row) || (await hasForeignCodes(store));
}

/** Adds a sign-in, and forgets secrets whose time is over. */
export async function addSignIn(store: Store, secret: NewKeySecret): Promise<KeySecretsTable> {
  await store.db.deleteFrom('key_secrets').where('expires_at', '<=', secret.now).execute();
  const row = secretRow(store, secret);
  await store.db.insertInto('key_secrets').values(row).execute();
  return row;
}

/** Sign-ins that have not ended, newest first. */
export async function listSignIns({ db }: Store, now: number): Promise<KeySecretsTable[]> {
  return await db
    .selectFrom('key_secrets')
    .selectAll()
    .where('kind', '!=', 'retired')
    .where('expires_at', '>', now)
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .execute();
}

/** Ends a sign-in, and with it the notes to its browser. */
export async function removeSignIn(store: Store, id: string): Promise<void> {
  await removeSecrets(store, 'id', storableText(id));
}

/** Ends all sign-ins of a key. */
export async function removeSignInsOf(store: Store, keyId: string): Promise<void> {
  await removeSecrets(store, 'key_id', keyId);
}

async function removeSecrets(store: Store, by: 'id' | 'key_id', value: string): Promise<void> {
  const ended = await store.db.deleteFrom('key_secrets').where(by, '=', value).where('kind', '!=', 'retired').returning('hash').execute();
  for (const { hash } of ended) await removePushSubscriptions(store, 'session', hash);
}
