import { findKey, isLive, type Key, revokeKey } from '../../store/keys.ts';
import type { Principal } from '../auth/principal.ts';
import type { Gateway } from '../gateway.ts';

/** Those of these keys that open something. */
export async function liveKeys({ store }: Pick<Gateway, 'store'>, ids: readonly string[]): Promise<readonly Key[]> {
  const now = Date.now();
  const found: Key[] = [];
  for (const id of ids) {
    const key = await findKey(store, id);
    if (key !== undefined && isLive(key, now)) found.push(key);
  }
  return found;
}

/** Revokes keys because of what becomes of their holder; each is an entry of the audit log. */
export async function revokeKeys(
  { store, keys, audit }: Pick<Gateway, 'store' | 'keys' | 'audit'>,
  principal: Principal,
  revoked: readonly Key[],
): Promise<void> {
  for (const { id } of revoked) {
    await audit.around(principal, { action: 'key.revoke', target: id, details: {} }, async () => await revokeKey(store, id, Date.now()));
  }
  keys.forget();
}
