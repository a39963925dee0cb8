import type { Selectable } from 'kysely';
import type { JsonObject } from '../../base/json.ts';
import type { Store } from '../store.ts';
import { damaged, storableText, storedObject } from '../text.ts';
import type { TurnsTable } from './agent-plane-schema.ts';

/** `queued` and `running` turns go on by themselves, a `waiting` one when somebody answers; the others have ended. */
export type TurnStatus = 'queued' | 'running' | 'waiting' | 'completed' | 'failed' | 'cancelled';

const STATUSES: readonly string[] = ['queued', 'running', 'waiting', 'completed', 'failed', 'cancelled'] satisfies TurnStatus[];

/** One answer of an agent in the making. The row is the truth about who makes it. */
export interface StoredTurn {
  readonly id: string;
  readonly sessionId: string;
  readonly status: TurnStatus;
  readonly epoch: number;
  readonly owner: string | null;
  readonly checkpoint: JsonObject;
  /** Of the last event that the checkpoint has taken in. */
  readonly sequence: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly endedAt: number | null;
}

export interface Claim {
  readonly turnId: string;
  readonly owner: string;
  /** The epoch under which the turn was seen without a living owner; absent for a turn that is free for everybody. */
  readonly epoch?: number | undefined;
  readonly at: number;
}

export function isEnded(status: TurnStatus): status is 'completed' | 'failed' | 'cancelled' {
  return status === 'completed' || status === 'failed' || status === 'cancelled';
}

export async function getTurn(store: Store, id: string): Promise<StoredTurn | undefined> {
  const row = await store.db.selectFrom('turns').selectAll().where('id', '=', storableText(id)).executeTakeFirst();
  return row === undefined ? undefined : turnOf(row);
}

export async function getTurns(store: Store, ids: readonly string[]): Promise<StoredTurn[]> {
  if (ids.length === 0) return [];
  const rows = await store.db.selectFrom('turns').selectAll().where('id', 'in', ids.map(storableText)).execute();
  return rows.map(turnOf);
}

/** Whose the sessions of these turns are, by turn; null for a session without a key. */
export async function keysOfTurns(store: Store, ids: readonly string[]): Promise<ReadonlyMap<string, string | null>> {
  if (ids.length === 0) return new Map();
  const rows = await store.db
    .selectFrom('turns')
    .innerJoin('sessions', 'sessions.id', 'turns.session_id')
    .select(['turns.id as id', 'sessions.key_id as key_id'])
    .where('turns.id', 'in', ids.map(storableText))
    .execute();
  return new Map(rows.map(({ id, key_id }) => [id, key_id]));
}

/** Makes `owner` the one who may write to the turn; undefined when it is not free or somebody was faster. */
export async function claimTurn(store: Store, claim: Claim): Promise<StoredTurn | undefined> {
  let query = store.db
    .updateTable('turns')
    .set((eb) => ({ epoch: eb('epoch', '+', 1), owner: claim.owner, status: 'running', updated_at: claim.at }))
    .where('id', '=', claim.turnId);
  query =
    claim.epoch === undefined
      ? query.where('status', '=', 'queued')
      : query.where('status', 'in', ['queued', 'running']).where('epoch', '=', claim.epoch);
  const row = await query.returningAll().executeTakeFirst();
  return row === undefined ? undefined : turnOf(row);
}

/** Gives back everything the owner has claimed; the next worker goes on. Returns the turns. */
export async function releaseTurns(store: Store, owner: string, at: number): Promise<readonly string[]> {
  const rows = await store.db
    .updateTable('turns')
    .set((eb) => ({ epoch: eb('epoch', '+', 1), owner: null, status: 'queued', updated_at: at }))
    .where('owner', '=', owner)
    .where('status', '=', 'running')
    .returning('id')
    .execute();
  return rows.map((row) => row.id);
}

/** Turns that go on by themselves, oldest first. */
export async function unfinishedTurns(store: Store): Promise<readonly StoredTurn[]> {
  const rows = await store.db
    .selectFrom('turns')
    .selectAll()
    .where('ended_at', 'is', null)
    .where('status', 'in', ['queued', 'running'])
    .orderBy('updated_at')
    .orderBy('id')
    .execute();
  return rows.map(turnOf);
}

export function turnOf(row: Selectable<TurnsTable>): StoredTurn {
  if (!STATUSES.includes(row.status)) throw damaged('status of a turn', row.status);
  return {
    id: row.id,
    sessionId: row.session_id,
    status: row.status as TurnStatus, // just looked up
    epoch: row.epoch,
    owner: row.owner,
    checkpoint: storedObject('checkpoint of a turn', row.checkpoint),
    sequence: row.sequence,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    endedAt: row.ended_at,
  };
}
