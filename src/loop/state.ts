/** What a crash in the middle of a call means. */
export type CallEffect = 'idempotent' | 'at_most_once';

/** `asked` = somebody must say yes first; `running` = begun, which was written down before it began. */
export type CallStage = 'asked' | 'running' | 'ended';

/** Why somebody is asked: the tool wants it, or a crash left the outcome of the call unknown. */
export type ApprovalReason = 'policy' | 'interrupted';

/** A tool call of the step under way. */
export interface CallState {
  /** The same for every attempt; tools use it as their idempotency key. */
  readonly id: string;
  readonly name: string;
  /** JSON text as the model wrote it. */
  readonly arguments: string;
  readonly effect: CallEffect;
  readonly stage: CallStage;
  readonly attempt: number;
  readonly approval?: { readonly id: string; readonly reason: ApprovalReason };
}

/** What a turn has used so far. */
export interface Spent {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costNanoUsd: number;
}

/** Where a turn stands. It is plain data: the checkpoint of a turn is its JSON. */
export interface TurnState {
  readonly phase: 'model' | 'tools' | 'ended';
  /** Model calls begun, the one under way included. */
  readonly iteration: number;
  /** Tries of the model call under way that failed. */
  readonly failures: number;
  /** The answer that the model call under way writes. */
  readonly messageId: string;
  readonly calls: readonly CallState[];
  readonly toolCalls: number;
  readonly spent: Spent;
  /** A message came that no model call has seen. */
  readonly unseen: boolean;
  /** The claim under which the turn last got anywhere. */
  readonly epoch: number;
}

/** What holds a turn in check. */
export interface Limits {
  readonly maxIterations: number;
  /** What the turn may cost, in billionths of a US dollar. */
  readonly maxTurnCost?: number | undefined;
  /** What the session may cost in all, and what it had cost before this turn. */
  readonly maxSessionCost?: number | undefined;
  readonly costBefore: number;
}

const NOTHING: Spent = { inputTokens: 0, outputTokens: 0, costNanoUsd: 0 };

/** A turn that is about to call the model for the first time. */
export function freshState(messageId: string): TurnState {
  return {
    phase: 'model',
    iteration: 1,
    failures: 0,
    messageId,
    calls: [],
    toolCalls: 0,
    spent: NOTHING,
    unseen: false,
    epoch: 0,
  };
}

export function isOpen(call: CallState): boolean {
  return call.stage !== 'ended';
}
