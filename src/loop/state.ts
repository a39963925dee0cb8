import { type IrUsage, NO_USAGE } from '../ir/usage.ts';

/** The meaning of a crash in the middle of a call. */
export type CallEffect = 'idempotent' | 'at_most_once';

/** `asked` = somebody must say yes first; `running` = begun, which was written down before it began. */
type CallStage = 'asked' | 'running' | 'ended';

/** Why somebody is asked: the tool wants it, or a crash left the outcome of the call unknown. */
type ApprovalReason = 'policy' | 'interrupted';

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

/** A tool call of the turn, by digest, for its receipt. */
export interface MadeCall {
  readonly id: string;
  readonly name: string;
  readonly argumentsSha256: string;
  /** Of the result as the model reads it; null while there is none. */
  readonly resultSha256: string | null;
}

/** The usage of a turn so far: the sum of the answers that became part of it. */
export interface Spent extends IrUsage {
  readonly costNanoUsd: number;
  /** The price list of the cost; null where nothing had a price. */
  readonly priceVersion: string | null;
}

/** Why a turn ended before its work was done. */
interface TurnFailure {
  readonly code: string;
  readonly message: string;
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
  /** Every call of the turn, in the order they were asked for. */
  readonly made: readonly MadeCall[];
  readonly spent: Spent;
  /** Of a turn that failed. */
  readonly failure: TurnFailure | null;
  /** A message came that no model call has seen. */
  readonly unseen: boolean;
  /** The claim under which the turn last got anywhere. */
  readonly epoch: number;
}

/** The limits of a turn. */
export interface Limits {
  readonly maxIterations: number;
  /** The most that the turn may cost, in billionths of a US dollar. */
  readonly maxTurnCost?: number | undefined;
  /** The most that the session may cost in all, and its cost before this turn. */
  readonly maxSessionCost?: number | undefined;
  readonly costBefore: number;
}

const NOTHING: Spent = { ...NO_USAGE, costNanoUsd: 0, priceVersion: null };

/** A turn that is about to call the model for the first time. */
export function freshState(messageId: string): TurnState {
  return {
    phase: 'model',
    iteration: 1,
    failures: 0,
    messageId,
    calls: [],
    toolCalls: 0,
    made: [],
    spent: NOTHING,
    failure: null,
    unseen: false,
    epoch: 0,
  };
}

export function isOpen(call: CallState): boolean {
  return call.stage !== 'ended';
}

/** The usage that came between two states of a turn. */
export function spentBetween(before: TurnState, after: TurnState): Pick<Spent, 'inputTokens' | 'outputTokens' | 'costNanoUsd'> {
  return {
    inputTokens: after.spent.inputTokens - before.spent.inputTokens,
    outputTokens: after.spent.outputTokens - before.spent.outputTokens,
    costNanoUsd: after.spent.costNanoUsd - before.spent.costNanoUsd,
  };
}

/** The cost before and with an answer. */
export function addSpent(before: Spent, usage: IrUsage, cost: Pick<Spent, 'costNanoUsd' | 'priceVersion'>): Spent {
  return {
    inputTokens: before.inputTokens + usage.inputTokens,
    outputTokens: before.outputTokens + usage.outputTokens,
    cacheReadTokens: before.cacheReadTokens + usage.cacheReadTokens,
    cacheWriteTokens: before.cacheWriteTokens + usage.cacheWriteTokens,
    thinkingTokens: before.thinkingTokens + usage.thinkingTokens,
    webSearchRequests: before.webSearchRequests + usage.webSearchRequests,
    estimated: before.estimated === true || usage.estimated === true,
    costNanoUsd: before.costNanoUsd + cost.costNanoUsd,
    priceVersion: cost.priceVersion ?? before.priceVersion,
  };
}
