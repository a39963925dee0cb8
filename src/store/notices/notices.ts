import type { Store } from '../store.ts';
import type { NoticesTable } from './notice-schema.ts';
import { PUSH_PREFIX } from './push-subscriptions.ts';

export type Notice = Pick<NoticesTable, 'id' | 'webhook' | 'event' | 'document' | 'due_at' | 'tries' | 'created_at'>;

/** `void`: there is nothing left to tell, or nobody to tell it to. */
export type NoticeOutcome = 'delivered' | 'given_up' | 'void';

/** Keeps a notice until it is delivered. False where there is one of the same occasion already. */
export async function addNotice(
  store: Store,
  notice: Pick<NoticesTable, 'id' | 'webhook' | 'event' | 'topic' | 'document' | 'created_at'>,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await store.db
    .insertInto('notices')
    .values({ ...notice, due_at: notice.created_at, tries: 0, ended_at: null, outcome: null })
    .onConflict((conflict) => conflict.columns(['webhook', 'topic']).doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

/** Takes the next notice of a webhook that is due, for as long as `until`: of several processes one gets it. */
export async function takeNotice(store: Store, webhook: string, now: number, until: number): Promise<Notice | undefined> {
  const due = await store.db
    .selectFrom('notices')
    .select(['id', 'webhook', 'event', 'document', 'due_at', 'tries', 'created_at'])
    .where('webhook', '=', webhook)
    .where('ended_at', 'is', null)
    .where('due_at', '<=', now)
    .orderBy('due_at')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
  if (due === undefined) return undefined;
  const { numUpdatedRows } = await store.db
    .updateTable('notices')
    .set({ due_at: until, tries: due.tries + 1 })
    .where('id', '=', due.id)
    .where('due_at', '=', due.due_at)
    .where('ended_at', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows === 1n ? { ...due, tries: due.tries + 1 } : await takeNotice(store, webhook, now, until);
}

export async function endNotice(store: Store, id: string, outcome: NoticeOutcome, at: number): Promise<void> {
  await store.db.updateTable('notices').set({ ended_at: at, outcome }).where('id', '=', id).execute();
}

/** It did not arrive and is tried again. */
export async function putOff(store: Store, id: string, dueAt: number): Promise<void> {
  await store.db.updateTable('notices').set({ due_at: dueAt }).where('id', '=', id).execute();
}

/** When the next notice of a webhook is due; undefined where none waits. */
export async function nextDue(store: Store, webhook: string): Promise<number | undefined> {
  const row = await store.db
    .selectFrom('notices')
    .select('due_at')
    .where('webhook', '=', webhook)
    .where('ended_at', 'is', null)
    .orderBy('due_at')
    .limit(1)
    .executeTakeFirst();
  return row?.due_at;
}

/** Ends the notices that one has made needless. */
export async function endNoticesUntil(store: Store, webhook: string, createdAt: number, at: number): Promise<void> {
  await store.db
    .updateTable('notices')
    .set({ ended_at: at, outcome: 'void' satisfies NoticeOutcome })
    .where('webhook', '=', webhook)
    .where('created_at', '<=', createdAt)
    .where('ended_at', 'is', null)
    .execute();
}

/** Notices to webhooks that have not arrived. */
export async function countWaiting(store: Store): Promise<number> {
  const row = await store.db
    .selectFrom('notices')
    .select((eb) => eb.fn.countAll<number | string>().as('many'))
    .where('ended_at', 'is', null)
    .where('webhook', 'not like', `${PUSH_PREFIX}%`)
    .executeTakeFirstOrThrow();
  return Number(row.many);
}

/** Forgets notices of before that time, delivered or not. */
export async function forgetNotices(store: Store, before: number): Promise<void> {
  await store.db.deleteFrom('notices').where('created_at', '<', before).execute();
}
