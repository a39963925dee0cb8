import type { Store } from '../store.ts';
import { keptObject } from '../text.ts';
import type { Appended, DraftEvent, MessageAppend, StepOutcome, TurnStep } from './turn-step.ts';
import { appendOnPostgres, commitOnPostgres } from './turn-writer-postgres.ts';
import { appendOnSqlite, commitOnSqlite } from './turn-writer-sqlite.ts';

/**
 * Appends a message, its turn and the turn's first events, all or none. Undefined when there is no such session for this key, or its
 * agent is not active.
 */
export async function appendMessage(store: Store, given: MessageAppend): Promise<Appended | undefined> {
  const append = store.withoutSecrets === undefined ? given : keptAppend(store, given);
  return store.kind === 'sqlite' ? await appendOnSqlite(store, append) : await appendOnPostgres(store, append);
}

/** Writes a step's events, its checkpoint and what the session becomes, all or none. */
export async function commitStep(store: Store, given: TurnStep): Promise<StepOutcome> {
  const step = store.withoutSecrets === undefined ? given : keptStep(store, given);
  return store.kind === 'sqlite' ? await commitOnSqlite(store, step) : await commitOnPostgres(store, step);
}

function keptAppend(store: Store, append: MessageAppend): MessageAppend {
  const { message, opening, turn } = append;
  return {
    ...append,
    message: keptEvent(store, message),
    opening: opening.map((event) => keptEvent(store, event)),
    turn: { ...turn, checkpoint: keptObject(store, turn.checkpoint) },
  };
}

function keptStep(store: Store, step: TurnStep): TurnStep {
  return {
    ...step,
    events: step.events.map((event) => keptEvent(store, event)),
    checkpoint: keptObject(store, step.checkpoint),
  };
}

function keptEvent(store: Store, event: DraftEvent): DraftEvent {
  return { ...event, data: keptObject(store, event.data) };
}
