import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Kysely } from 'kysely';
import type { KeysTable, Tables } from './schema.ts';
import type { KeySecret } from './store.ts';

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
