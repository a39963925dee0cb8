import type { Selectable } from 'kysely';
import type { JsonObject } from '../../base/json.ts';
import { pageSize } from '../page.ts';
import type { Store } from '../store.ts';
import { storableText, storedObject } from '../text.ts';
import type { SessionEventsTable } from './agent-plane-schema.ts';

/** An event to be appended; its number is given when it is. */
export interface NewEvent {
  readonly type: string;
  readonly turnId: string | null;
  readonly at: number;
  readonly data: JsonObject;
}

/** One thing that happened in a session. Never changed, never removed alone. */
export interface StoredEvent extends NewEvent {
  readonly sessionId: string;
  readonly sequence: number;
}

export interface EventRange {
  readonly sessionId: string;
  /** Only later ones. */
  readonly after: number;
  /** Only up to here. */
  readonly upTo?: number | undefined;
  readonly types?: readonly string[] | undefined;
  readonly limit?: number | undefined;
}

/** In their order. Without a limit all of them. */
export async function listEvents(store: Store, range: EventRange): Promise<StoredEvent[]> {
  let query = store.db
    .selectFrom('session_events')
    .selectAll()
    .where('session_id', '=', storableText(range.sessionId))
    .where('sequence', '>', range.after);
  if (range.upTo !== undefined) query = query.where('sequence', '<=', range.upTo);
  if (range.types !== undefined) query = query.where('type', 'in', [...range.types]);
  if (range.limit !== undefined) query = query.limit(pageSize(range.limit));
  const rows = await query.orderBy('sequence').execute();
  return rows.map(eventOf);
}

/** How many events a turn has. */
export async function countTurnEvents(store: Store, sessionId: string, turnId: string): Promise<number> {
  const { count } = await store.db
    .selectFrom('session_events')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('session_id', '=', storableText(sessionId))
    .where('turn_id', '=', storableText(turnId))
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** The last event of a type at or before a place. */
export async function lastEventOf(store: Store, sessionId: string, type: string, upTo: number): Promise<StoredEvent | undefined> {
  const row = await store.db
    .selectFrom('session_events')
    .selectAll()
    .where('session_id', '=', storableText(sessionId))
    .where('sequence', '<=', upTo)
    .where('type', '=', type)
    .orderBy('sequence', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row === undefined ? undefined : eventOf(row);
}

export function eventOf(row: Selectable<SessionEventsTable>): StoredEvent {
  return {
    sessionId: row.session_id,
    sequence: row.sequence,
    type: row.type,
    turnId: row.turn_id,
    at: row.at,
    data: storedObject('data of an event', row.data),
  };
}
