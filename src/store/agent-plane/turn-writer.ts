import type { JsonObject } from '../../base/json.ts';
import type { Store } from '../store.ts';
import type { NewEvent } from './session-events.ts';
import type { SessionStatus } from './sessions.ts';
import { appendOnPostgres, commitOnPostgres } from './turn-writer-postgres.ts';
import { appendOnSqlite, commitOnSqlite } from './turn-writer-sqlite.ts';
import type { TurnStatus } from './turns.ts';
import type { Visible } from './visible.ts';

/** A message for a session; it begins a turn unless one is under way. */
export interface MessageAppend {
  readonly sessionId: string;
  /** Other sessions are as if they were not there. */
  readonly visible: Visible;
  readonly message: DraftEvent;
  /** Events that are appended after the message when it begins a turn. */
  readonly opening: readonly DraftEvent[];
  readonly turn: {
    readonly id: string;
    readonly checkpoint: JsonObject;
    /** Claimed by this worker from the start; null leaves it to any worker that is free. */
    readonly owner: string | null;
  };
  readonly at: number;
  /** Who writes, for other processes that hear of it. */
  readonly origin: string;
}

/** An event of the turn that the write is about. */
export type DraftEvent = Pick<NewEvent, 'type' | 'data'>;

/** Where a message landed, and what a turn needs to know of its session. */
export interface Appended {
  /** Of the last event appended. */
  readonly sequence: number;
  readonly turnId: string;
  /** The message began the turn. */
  readonly began: boolean;
  /** The turn began as the named owner's. */
  readonly owned: boolean;
  readonly agentId: string;
  readonly agentRevision: number;
  readonly keyId: string | null;
  readonly document: JsonObject;
  readonly costNanoUsd: number;
}

/** The changes of one step of a turn. */
export interface TurnStep {
  readonly turnId: string;
  readonly sessionId: string;
  /** The claim under which the step was made. */
  readonly epoch: number;
  /** The session's last event as the step knows it. */
  readonly expected: number;
  readonly events: readonly DraftEvent[];
  readonly checkpoint: JsonObject;
  readonly owner: string | null;
  readonly status: TurnStatus;
  readonly sessionStatus: SessionStatus;
  readonly spent: { readonly inputTokens: number; readonly outputTokens: number; readonly costNanoUsd: number };
  readonly at: number;
  readonly origin: string;
}

/** `behind` = somebody appended to the session; `fenced` = the turn is no longer ours. Nothing was written in either case. */
export type StepOutcome = 'committed' | 'behind' | 'fenced';

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
