import { Role, Scopes } from '../../calls/scopes.ts';
import { findKey, isLive } from '../../store/keys.ts';
import { roleOfHolder } from '../../store/people/people.ts';
import type { Store } from '../../store/store.ts';
import type { Permission } from './permissions.ts';
import { rightsOfKey } from './rights.ts';

/** Whether what was begun with a key may go on, although nobody shows the key any more: it has not ended, and still has the right. */
export async function mayGoOn(store: Store, keyId: string, permission: Permission): Promise<boolean> {
  const [key, role] = await Promise.all([findKey(store, keyId), roleOfHolder(store, keyId)]);
  if (key === undefined || !isLive(key, Date.now())) return false;
  // A word that names no role opens nothing.
  const bound = role === null ? undefined : (Role.safeParse(role).data ?? 'suspended');
  return rightsOfKey(Scopes.parse(key.scopes), bound).permissions.has(permission);
}
