import type { JsonObject } from '../../base/json.ts';
import type { NewEvent } from './session-events.ts';
import type { SessionStatus } from './sessions.ts';
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
