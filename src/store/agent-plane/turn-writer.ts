import type { Store } from '../store.ts';
import type { Appended, MessageAppend, StepOutcome, TurnStep } from './turn-step.ts';
import { appendOnPostgres, commitOnPostgres } from './turn-writer-postgres.ts';
import { appendOnSqlite, commitOnSqlite } from './turn-writer-sqlite.ts';

/**
 * Appends a message, its turn and the turn's first events, all or none. Undefined when there is no such session for this key, or its
 * agent is not active.
 */
export async function appendMessage(store: Store, append: MessageAppend): Promise<Appended | undefined> {
  return store.kind === 'sqlite' ? await appendOnSqlite(store, append) : await appendOnPostgres(store, append);
}

/** Writes a step's events, its checkpoint and what the session becomes, all or none. */
export async function commitStep(store: Store, step: TurnStep): Promise<StepOutcome> {
  return store.kind === 'sqlite' ? await commitOnSqlite(store, step) : await commitOnPostgres(store, step);
}
