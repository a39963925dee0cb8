import { type Kysely, sql } from 'kysely';
import type { Tables } from '../schema.ts';
import type { Store } from '../store.ts';

/** Something was appended to a session: `origin session sequence`; or it is gone: `origin session deleted`. */
export const EVENTS_CHANNEL = 'abp_events';
export const DELETED = 'deleted';
/** A turn waits for a worker: its id. */
export const TURNS_CHANNEL = 'abp_turns';
/** Parts of answers in the making, which nobody stores. */
export const DELTAS_CHANNEL = 'abp_deltas';
/** A node has changed what all have in memory: `changed node id`; or it has taken over such a change: `taken node id`;
 * or it is short of a budget, or has given some of it back: `short node budget`, `given node budget`. */
export const CHANGES_CHANNEL = 'abp_changes';

/** Tells other processes, once the transaction commits. SQLite has one process and nobody to tell. */
export async function tell(store: Store, db: Kysely<Tables>, channel: string, payloads: readonly string[]): Promise<void> {
  if (store.kind === 'sqlite' || payloads.length === 0) return;
  await sql`select pg_notify(${channel}, payload) from unnest(${[...payloads]}::text[]) as payload`.execute(db);
}
