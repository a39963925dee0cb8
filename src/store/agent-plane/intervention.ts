import type { JsonObject } from '../../base/json.ts';
import { EVENTS_CHANNEL, TURNS_CHANNEL, tell } from '../databases/notices.ts';
import type { Store } from '../store.ts';
import { keptObject } from '../text.ts';
import { eventOf, type StoredEvent } from './session-events.ts';
import type { SessionStatus } from './sessions.ts';
import type { DraftEvent, TurnStep } from './turn-step.ts';
import { isEnded, type StoredTurn, type TurnStatus, turnOf } from './turns.ts';

const NOTHING_SPENT: TurnStep['spent'] = { inputTokens: 0, outputTokens: 0, costNanoUsd: 0 };

/** A change to an unfinished turn from outside. */
export interface Intervention {
  readonly events: readonly DraftEvent[];
  /** The new status of the turn; absent leaves it as it is. */
  readonly status?: TurnStatus;
  readonly sessionStatus?: SessionStatus;
  /** The turn as it stands now; absent leaves it as it is. */
  readonly checkpoint?: JsonObject;
  /** The usage that comes to that of the session. */
  readonly spent?: TurnStep['spent'];
}

export interface Intervened {
  readonly turn: StoredTurn;
  /** Of the last event appended. */
  readonly sequence: number;
}

export interface InterventionOptions {
  readonly sessionId: string;
  readonly turnId: string;
  readonly at: number;
  readonly origin: string;
}

/**
 * Decides about a turn while its row is held, knowing what was appended since its checkpoint, and writes what was decided. A turn that changes its status is taken from the worker that
 * works on it. Undefined when the turn is gone. What `decide` throws undoes everything.
 */
export async function intervene(
  store: Store,
  { sessionId, turnId, at, origin }: InterventionOptions,
  decide: (turn: StoredTurn, since: readonly StoredEvent[]) => Intervention,
): Promise<Intervened | undefined> {
  return await store.db.transaction().execute(async (db) => {
    // Turn first, session second, as every step does: two writers that take them in the same order never wait for each other in a ring.
    const row = await db
      .selectFrom('turns')
      .selectAll()
      .where('id', '=', turnId)
      .$if(store.kind === 'postgres', (query) => query.forUpdate())
      .executeTakeFirst();
    if (row === undefined) return undefined;
    const turn = turnOf(row);
    const since = await db
      .selectFrom('session_events')
      .selectAll()
      .where('session_id', '=', sessionId)
      .where('sequence', '>', turn.sequence)
      .orderBy('sequence')
      .execute();
    const { events, status, sessionStatus, checkpoint, spent = NOTHING_SPENT } = decide(turn, since.map(eventOf));
    const ended = status !== undefined && isEnded(status);
    if (status !== undefined) {
      await db
        .updateTable('turns')
        .set({
          ...{ status, epoch: turn.epoch + 1, owner: null, updated_at: at },
          ...(ended ? { ended_at: at } : {}),
          ...(checkpoint === undefined ? {} : { checkpoint: JSON.stringify(checkpoint) }),
        })
        .where('id', '=', turnId)
        .execute();
    }
    const { sequence } = await db
      .updateTable('sessions')
      .set((eb) => ({
        sequence: eb('sequence', '+', events.length),
        input_tokens: eb('input_tokens', '+', spent.inputTokens),
        output_tokens: eb('output_tokens', '+', spent.outputTokens),
        cost_nano_usd: eb('cost_nano_usd', '+', spent.costNanoUsd),
        updated_at: at,
        ...(sessionStatus === undefined ? {} : { status: sessionStatus }),
        ...(ended ? { turn_id: null } : {}),
      }))
      .where('id', '=', sessionId)
      .returning('sequence')
      .executeTakeFirstOrThrow();
    const rows = events.map(({ type, data }, index) => ({
      session_id: sessionId,
      sequence: sequence - events.length + 1 + index,
      type,
      turn_id: turnId,
      at,
      data: JSON.stringify(keptObject(store, data)),
    }));
    if (rows.length > 0) await db.insertInto('session_events').values(rows).execute();
    await tell(store, db, EVENTS_CHANNEL, [`${origin} ${sessionId} ${sequence}`]);
    if (status === 'queued') await tell(store, db, TURNS_CHANNEL, [turnId]);
    return { turn, sequence };
  });
}
