import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Kysely } from 'kysely';
import { hasSeveralChains } from './nodes.ts';
import type { KeysTable, Tables } from './schema.ts';
import type { KeySecret, Store } from './store.ts';

/** The part of a row that its code covers: everything that decides what the key opens, and whether it still does. */
const COVERED = [
  'id',
  'kind',
  'name',
  'hash',
  'prefix',
  'scopes',
  'recording',
  'tags',
  'created_at',
  'expires_at',
  'revoked_at',
  'run_id',
] as const satisfies readonly (keyof KeysTable)[];

type Covered = Pick<KeysTable, (typeof COVERED)[number]>;

/** The code of a row, made with the secret of the home. */
export function keyMac(secret: KeySecret, row: Covered): string {
  return createHmac('sha256', secret.value)
    .update(JSON.stringify(COVERED.map((name) => row[name])))
    .digest('hex');
}

/** Whether a process that knows the secret wrote the row as it stands. */
export function isGenuine(secret: KeySecret, row: Covered & Pick<KeysTable, 'mac'>): boolean {
  const [claimed, made] = [Buffer.from(row.mac ?? ''), Buffer.from(keyMac(secret, row))];
  return claimed.length === made.length && timingSafeEqual(claimed, made);
}

/** Homes that share a database without a common secret cannot tell each other's rows from forged ones (ABP_KEY_SECRET). */
export async function hasForeignCodes(store: Store): Promise<boolean> {
  return !store.keySecret.shared && (await hasSeveralChains(store));
}

/** The code of another row that decides what somebody may: `kind` keeps rows of different tables apart. */
export function rowMac({ value }: KeySecret, kind: string, members: readonly (string | number | null)[]): string {
  return createHmac('sha256', value)
    .update(JSON.stringify([kind, ...members]))
    .digest('hex');
}

/** Rows of a version that knew no codes get theirs, once: when the home begins to use its secret. */
export async function adoptKeys(db: Kysely<Tables>, secret: KeySecret): Promise<void> {
  if (!secret.isNew) return;
  for (const row of await db.selectFrom('keys').selectAll().execute()) {
    await db
      .updateTable('keys')
      .set({ mac: keyMac(secret, row) })
      .where('id', '=', row.id)
      .execute();
  }
  secret.taken();
}
