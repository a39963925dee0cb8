import { sha256 } from '../../base/canonical-json.ts';
import { uuidv7Hex } from '../../base/ids.ts';
import { rowMac } from '../key-mac.ts';
import type { Store } from '../store.ts';
import type { PushSubscriptionsTable } from './notice-schema.ts';

export type PushSubscription = PushSubscriptionsTable;
export type NewPushSubscription = Omit<PushSubscriptionsTable, 'id' | 'endpoint_hash' | 'mac' | 'created_at'>;

export const PUSH_PREFIX = 'push ';

/** The receiver of notices to a browser, as their table names it. */
export function pushReceiver(id: string): string {
  return `${PUSH_PREFIX}${id}`;
}

type Covered = Omit<PushSubscriptionsTable, 'mac' | 'endpoint_hash' | 'created_at'>;

function macOf({ keySecret }: Store, { id, session, endpoint, p256dh, auth, push_key, expires_at }: Covered): string {
  return rowMac(keySecret, 'push subscription', [id, session, endpoint, p256dh, auth, push_key, expires_at]);
}

/** Keeps the browser's wish. A sign-in has one, and a browser that signed in anew has none from before. The same wish again changes nothing. */
export async function keepPushSubscription(store: Store, wish: NewPushSubscription, now: number): Promise<void> {
  const known = await pushSubscriptionOf(store, wish.session);
  if (known?.endpoint === wish.endpoint && known.p256dh === wish.p256dh && known.auth === wish.auth && known.push_key === wish.push_key)
    return;
  const endpointHash = sha256(wish.endpoint);
  const row = { id: uuidv7Hex(now), ...wish };
  await removePushSubscriptions(store, 'session', wish.session);
  await removePushSubscriptions(store, 'endpoint_hash', endpointHash);
  await store.db
    .insertInto('push_subscriptions')
    .values({ ...row, endpoint_hash: endpointHash, created_at: now, mac: macOf(store, row) })
    .execute();
}

/** Those that take notes signed with the key. A row that somebody else wrote into the database is none. */
export async function listPushSubscriptions(store: Store, pushKey: string): Promise<PushSubscription[]> {
  const rows = await store.db.selectFrom('push_subscriptions').selectAll().where('push_key', '=', pushKey).orderBy('id').execute();
  return rows.filter((row) => row.mac === macOf(store, row));
}

export async function countPushSubscriptions(store: Store): Promise<number> {
  const row = await store.db
    .selectFrom('push_subscriptions')
    .select((eb) => eb.fn.countAll<number | string>().as('many'))
    .executeTakeFirstOrThrow();
  return Number(row.many);
}

export async function getPushSubscription(store: Store, id: string): Promise<PushSubscription | undefined> {
  const row = await store.db.selectFrom('push_subscriptions').selectAll().where('id', '=', id).executeTakeFirst();
  return row !== undefined && row.mac === macOf(store, row) ? row : undefined;
}

export async function pushSubscriptionOf(store: Store, session: string): Promise<PushSubscription | undefined> {
  const row = await store.db.selectFrom('push_subscriptions').selectAll().where('session', '=', session).executeTakeFirst();
  return row !== undefined && row.mac === macOf(store, row) ? row : undefined;
}

/** Ends what was wished, with all notices that wait for it. */
export async function removePushSubscriptions(store: Store, by: 'id' | 'session' | 'endpoint_hash', value: string): Promise<void> {
  const rows = await store.db.selectFrom('push_subscriptions').select('id').where(by, '=', value).execute();
  for (const { id } of rows) {
    await store.db.deleteFrom('push_subscriptions').where('id', '=', id).execute();
    await store.db.deleteFrom('notices').where('webhook', '=', pushReceiver(id)).execute();
  }
}
