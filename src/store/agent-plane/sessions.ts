import type { Selectable } from 'kysely';
import { uuidv7Hex } from '../../base/ids.ts';
import type { JsonObject } from '../../base/json.ts';
import { olderThan, type Page, type PageOptions, pageOf, pageSize } from '../page.ts';
import type { Store } from '../store.ts';
import { hasTag, storedTags, tagsColumn } from '../tags.ts';
import { damaged, storableText, storedObject } from '../text.ts';
import type { SessionsTable } from './agent-plane-schema.ts';
import { keysSeen, type Visible } from './visible.ts';

/** `waiting` = a turn stands still until somebody answers. */
export type SessionStatus = 'idle' | 'active' | 'waiting';

/** A conversation with an agent; what was said is in its events. */
export interface StoredSession {
  readonly id: string;
  readonly agentId: string;
  readonly keyId: string | null;
  readonly title: string | null;
  readonly tags: readonly string[];
  /** Settings of this session alone, which the agent plane reads and writes. */
  readonly document: JsonObject;
  readonly status: SessionStatus;
  readonly sequence: number;
  readonly turnId: string | null;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costNanoUsd: number;
  readonly forkedFrom: string | null;
  readonly forkedSequence: number | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface NewSession {
  readonly agentId: string;
  readonly keyId: string | null;
  readonly title?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly document: JsonObject;
  readonly createdAt: number;
}

export interface SessionFilter extends PageOptions {
  readonly agentId?: string | undefined;
  readonly status?: SessionStatus | undefined;
  readonly tag?: string | undefined;
  readonly visible: Visible;
}

export interface SessionChange {
  readonly title?: string | null | undefined;
  readonly tags?: readonly string[] | undefined;
  /** Makes its new settings of the old ones. */
  readonly document?: ((before: JsonObject) => JsonObject) | undefined;
  readonly updatedAt: number;
}

function newSessionRow(session: NewSession): Selectable<SessionsTable> {
  return {
    id: `session_${uuidv7Hex()}`,
    agent_id: session.agentId,
    key_id: session.keyId,
    title: session.title === undefined ? null : storableText(session.title),
    tags: tagsColumn(session.tags ?? []),
    document: JSON.stringify(session.document),
    status: 'idle',
    sequence: 0,
    turn_id: null,
    input_tokens: 0,
    output_tokens: 0,
    cost_nano_usd: 0,
    forked_from: null,
    forked_sequence: null,
    created_at: session.createdAt,
    updated_at: session.createdAt,
  };
}

export async function createSession(store: Store, session: NewSession): Promise<StoredSession> {
  const row = newSessionRow(session);
  await store.db.insertInto('sessions').values(row).execute();
  return sessionOf(row);
}

export async function getSession(store: Store, id: string): Promise<StoredSession | undefined> {
  const row = await store.db.selectFrom('sessions').selectAll().where('id', '=', storableText(id)).executeTakeFirst();
  return row === undefined ? undefined : sessionOf(row);
}

/** Whose session it is, and its agent as of now. */
export async function agentOfSession(
  store: Store,
  id: string,
): Promise<{ readonly keyId: string | null; readonly agentId: string; readonly revision: number } | undefined> {
  const row = await store.db
    .selectFrom('sessions')
    .innerJoin('agents', 'agents.id', 'sessions.agent_id')
    .select(['sessions.key_id', 'agents.id', 'agents.revision'])
    .where('sessions.id', '=', storableText(id))
    .executeTakeFirst();
  return row === undefined ? undefined : { keyId: row.key_id, agentId: row.id, revision: row.revision };
}

/** Newest first. */
export async function listSessions(store: Store, filter: SessionFilter): Promise<Page<StoredSession>> {
  const size = pageSize(filter.limit);
  let query = store.db.selectFrom('sessions').selectAll();
  if (filter.agentId !== undefined) query = query.where('agent_id', '=', storableText(filter.agentId));
  if (filter.status !== undefined) query = query.where('status', '=', filter.status);
  const keys = keysSeen(filter.visible);
  if (keys === null) query = query.where('key_id', 'is', null);
  else if (keys !== undefined) query = query.where('key_id', 'in', keys);
  if (filter.tag !== undefined) query = query.where(hasTag(store, filter.tag));
  if (filter.cursor !== undefined) query = query.where(olderThan(filter.cursor));
  const rows = await query
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(size + 1)
    .execute();
  return pageOf(rows.map(sessionOf), size, (session) => ({ time: session.createdAt, id: session.id }));
}

/** The session after the change; undefined when there is none. */
export async function updateSession(store: Store, id: string, change: SessionChange): Promise<StoredSession | undefined> {
  const { title, tags, document, updatedAt } = change;
  return await store.db.transaction().execute(async (db) => {
    const before = await db
      .selectFrom('sessions')
      .select('document')
      .where('id', '=', storableText(id))
      .$if(store.kind === 'postgres', (query) => query.forUpdate())
      .executeTakeFirst();
    if (before === undefined) return undefined;
    const row = await db
      .updateTable('sessions')
      .set({
        ...(title === undefined ? {} : { title: title === null ? null : storableText(title) }),
        ...(tags === undefined ? {} : { tags: tagsColumn(tags) }),
        ...(document === undefined ? {} : { document: JSON.stringify(document(storedObject('document of a session', before.document))) }),
        updated_at: updatedAt,
      })
      .where('id', '=', storableText(id))
      .returningAll()
      .executeTakeFirst();
    return row === undefined ? undefined : sessionOf(row);
  });
}

/** Removes the session with its turns and events; false when there is none. */
export async function deleteSession(store: Store, id: string): Promise<boolean> {
  const result = await store.db.deleteFrom('sessions').where('id', '=', storableText(id)).executeTakeFirst();
  return result.numDeletedRows > 0n;
}

/** A new session with the first events of another; both or neither. */
export async function forkSession(
  store: Store,
  fork: NewSession & { readonly from: string; readonly upTo: number },
): Promise<StoredSession> {
  const row: Selectable<SessionsTable> = {
    ...newSessionRow(fork),
    sequence: fork.upTo,
    forked_from: fork.from,
    forked_sequence: fork.upTo,
  };
  await store.db.transaction().execute(async (db) => {
    await db.insertInto('sessions').values(row).execute();
    await db
      .insertInto('session_events')
      .columns(['session_id', 'sequence', 'type', 'turn_id', 'at', 'data'])
      .expression((eb) =>
        eb
          .selectFrom('session_events')
          .select((source) => [source.val(row.id).as('session_id'), 'sequence', 'type', 'turn_id', 'at', 'data'])
          .where('session_id', '=', fork.from)
          .where('sequence', '<=', fork.upTo),
      )
      .execute();
  });
  return sessionOf(row);
}

function sessionOf(row: Selectable<SessionsTable>): StoredSession {
  if (row.status !== 'idle' && row.status !== 'active' && row.status !== 'waiting') throw damaged('status of a session', row.status);
  return {
    id: row.id,
    agentId: row.agent_id,
    keyId: row.key_id,
    title: row.title,
    tags: storedTags(row.tags),
    document: storedObject('document of a session', row.document),
    status: row.status,
    sequence: row.sequence,
    turnId: row.turn_id,
    inputTokens: row.input_tokens,
    outputTokens: row.output_tokens,
    costNanoUsd: row.cost_nano_usd,
    forkedFrom: row.forked_from,
    forkedSequence: row.forked_sequence,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
