import { sha256 } from '../base/canonical-json.ts';
import {
  actCompleted,
  actStarted,
  answered,
  approvalRequested,
  asking,
  brokenOff,
  callEnded,
  callStarted,
  type Ending,
  ending,
  type LoopRecord,
  reasonFailed,
  retrying,
} from './records.ts';
import {
  type AskedCall,
  type CallEnd,
  type CutAnswer,
  type LoopCommand,
  type LoopSignal,
  type ModelAnswer,
  type ModelFailure,
  resultText,
} from './signal.ts';
import { addSpent, type CallState, isOpen, type Limits, type MadeCall, type TurnState } from './state.ts';

/** How a turn stands after a step, as its row says it. */
export type Standing = 'running' | 'waiting' | 'completed' | 'failed';

/** One step: what the turn becomes, what is written down with it, and what is done once it is. */
export interface Step {
  readonly state: TurnState;
  readonly records: readonly LoopRecord[];
  readonly commands: readonly LoopCommand[];
}

/** The turn as the machine knows it, beside its state. */
export interface TurnFrame {
  readonly turnId: string;
  readonly limits: Limits;
  /** Makes ids for messages and approvals. */
  readonly newId: (kind: 'msg' | 'approval') => string;
}

const MAX_FAILURES = 2;
const FIRST_DELAY_MS = 250;
const MAX_DELAY_MS = 60_000;

/** The turn machine: pure, so that a step that could not be written down is simply computed again. */
export function advance(frame: TurnFrame, state: TurnState, signal: LoopSignal): Step {
  if (state.phase === 'ended') return still(state);
  switch (signal.kind) {
    case 'answered':
      return onAnswer(frame, state, signal.answer);
    case 'model-failed':
      return onFailure(frame, withCut(state, signal.cut), signal);
    case 'call-ended':
      return onCallEnded(frame, state, signal);
    case 'approval':
      return onApproval(frame, state, signal);
    case 'message':
      return still({ ...state, unseen: true });
    case 'taken-over':
      return onTakeOver(frame, state);
    case 'given-up':
      return end(frame, state, { failure: signal.failure });
  }
}

/** The state once a request holds every message there is. */
export function allSeen(state: TurnState): TurnState {
  return state.unseen ? { ...state, unseen: false } : state;
}

/** Several signals as one step. */
export function advanceAll(frame: TurnFrame, state: TurnState, signals: readonly LoopSignal[]): Step {
  return signals.reduce<Step>((step, signal) => then(step, (current) => advance(frame, current, signal)), still(state));
}

/** How the turn stands: at its own work, waiting for an answer from outside, or ended. */
export function standing(state: TurnState, ended: Standing | undefined): Standing {
  if (ended !== undefined) return ended;
  const open = state.calls.filter(isOpen);
  return state.phase === 'tools' && open.length > 0 && open.every(({ stage }) => stage === 'asked') ? 'waiting' : 'running';
}

/** How the records say that the turn ended; undefined when they do not. */
export function endedBy(records: readonly LoopRecord[]): 'completed' | 'failed' | undefined {
  if (records.some(({ type }) => type === 'turn.completed')) return 'completed';
  return records.some(({ type }) => type === 'turn.failed') ? 'failed' : undefined;
}

function still(state: TurnState): Step {
  return { state, records: [], commands: [] };
}

function then(step: Step, next: (state: TurnState) => Step): Step {
  const { state, records, commands } = next(step.state);
  return { state, records: [...step.records, ...records], commands: [...step.commands, ...commands] };
}

function onAnswer(frame: TurnFrame, before: TurnState, answer: ModelAnswer): Step {
  if (before.phase !== 'model') return still(before);
  const state: TurnState = {
    ...before,
    failures: 0,
    toolCalls: before.toolCalls + answer.calls.length,
    spent: addSpent(before.spent, answer.usage, answer),
  };
  const step: Step = { state, records: answered(before, answer), commands: [] };
  if (answer.calls.length > 0) return then(step, (current) => beginCalls(frame, current, answer.calls));
  return then(step, (current) => (current.unseen ? askModel(frame, current) : end(frame, current, { finish: answer.finish })));
}

/** An answer that was broken off has cost something all the same. */
function withCut(state: TurnState, cut: CutAnswer | undefined): TurnState {
  return cut === undefined ? state : { ...state, spent: addSpent(state.spent, cut.usage, cut) };
}

function onFailure(frame: TurnFrame, state: TurnState, { failure, cut }: Extract<LoopSignal, { kind: 'model-failed' }>): Step {
  if (state.phase !== 'model') return still(state);
  const failures = state.failures + 1;
  if (failure.retryable && failures <= MAX_FAILURES) {
    const delayMs = Math.min(failure.retryAfterMs ?? FIRST_DELAY_MS * 2 ** (failures - 1), MAX_DELAY_MS);
    return {
      state: { ...state, failures, unseen: false },
      records: [retrying(failure, delayMs, failures)],
      commands: [{ kind: 'call-model', delayMs, attempt: failures + 1 }],
    };
  }
  const kept = cut === undefined ? [] : brokenOff(state, cut);
  const step: Step = { state: { ...state, failures: 0 }, records: [...kept, reasonFailed(failure)], commands: [] };
  // Somebody has written since: that message deserves a try of its own.
  return then(step, (current) => (current.unseen ? askModel(frame, current) : end(frame, current, { failure })));
}

/** Asks the model again, as far as the limits go. */
function askModel(frame: TurnFrame, state: TurnState): Step {
  const failure = limitReached(frame.limits, state);
  if (failure !== undefined) return end(frame, state, { failure });
  const messageId = frame.newId('msg');
  const iteration = state.iteration + 1;
  return {
    state: { ...state, phase: 'model', calls: [], iteration, messageId, unseen: false },
    records: asking(messageId, iteration),
    commands: [{ kind: 'call-model', delayMs: 0, attempt: 1 }],
  };
}

function limitReached(limits: Limits, state: TurnState): ModelFailure | undefined {
  if (state.iteration >= limits.maxIterations) {
    return {
      code: 'max_iterations',
      message: `The turn has called the model ${state.iteration === 1 ? 'once' : `${state.iteration} times`}, which is its limit.`,
      retryable: false,
    };
  }
  return overBudget(limits, state.spent.costNanoUsd);
}

/** Why no model may be called at this cost; undefined when one may. */
export function overBudget({ maxTurnCost, maxSessionCost, costBefore }: Limits, costNanoUsd: number): ModelFailure | undefined {
  if (maxTurnCost !== undefined && costNanoUsd >= maxTurnCost) return exhausted('turn');
  return maxSessionCost !== undefined && costBefore + costNanoUsd >= maxSessionCost ? exhausted('session') : undefined;
}

function exhausted(what: 'turn' | 'session'): ModelFailure {
  return { code: 'budget_exhausted', message: `The ${what} has used up what it may cost.`, retryable: false };
}

function beginCalls(frame: TurnFrame, state: TurnState, asked: readonly AskedCall[]): Step {
  const calls = asked.map(({ needsApproval, ...call }): CallState => {
    if (!needsApproval) return { ...call, stage: 'running', attempt: 1 };
    return { ...call, stage: 'asked', attempt: 0, approval: { id: frame.newId('approval'), reason: 'policy' } };
  });
  const made = asked.map(({ id, name, arguments: text }): MadeCall => ({ id, name, argumentsSha256: sha256(text), resultSha256: null }));
  return {
    state: { ...state, phase: 'tools', calls, made: [...state.made, ...made] },
    records: [actStarted(calls), ...calls.map((call) => (call.stage === 'asked' ? approvalRequested(call) : callStarted(call)))],
    commands: calls.filter(({ stage }) => stage === 'running').map((call) => ({ kind: 'run-call', call })),
  };
}

function onCallEnded(frame: TurnFrame, state: TurnState, signal: Extract<LoopSignal, { kind: 'call-ended' }>): Step {
  const call = state.calls.find(({ id }) => id === signal.id);
  if (call?.stage !== 'running') return still(state);
  return endCall(frame, state, call, { end: signal.end, ms: signal.ms });
}

function endCall(frame: TurnFrame, state: TurnState, call: CallState, { end: how, ms }: { end: CallEnd; ms: number }): Step {
  const calls = replace(state.calls, { ...call, stage: 'ended' });
  const resultSha256 = sha256(resultText('output' in how ? how.output : how.error));
  const made = state.made.map((one) => (one.id === call.id ? { ...one, resultSha256 } : one));
  const step: Step = { state: { ...state, calls, made }, records: [callEnded(call, how, ms)], commands: [] };
  if (calls.some(isOpen)) return step;
  return then({ ...step, records: [...step.records, actCompleted(calls)] }, (current) => askModel(frame, current));
}

const CUT_OFF = 'The turn ended before the call did.';
const DENIED = 'The call was not approved.';
const UNKNOWN = 'The call was interrupted; whether it had an effect is not known, and it was not made again.';

function onApproval(frame: TurnFrame, state: TurnState, signal: Extract<LoopSignal, { kind: 'approval' }>): Step {
  const call = state.calls.find(({ approval }) => approval?.id === signal.approvalId);
  if (call?.stage !== 'asked') return still(state);
  if (signal.approved) return runCall(state, call);
  const reason = call.approval?.reason === 'interrupted' ? UNKNOWN : DENIED;
  const error = signal.note === undefined ? reason : `${reason} ${signal.note}`;
  return endCall(frame, state, call, { end: { status: 'cancelled', error }, ms: 0 });
}

/** An approved call keeps its id: the tool sees the same one if it was begun before. */
function runCall(state: TurnState, call: CallState): Step {
  const running: CallState = { ...call, stage: 'running', attempt: call.attempt + 1 };
  return {
    state: { ...state, calls: replace(state.calls, running) },
    records: [callStarted(running)],
    commands: [{ kind: 'run-call', call: running }],
  };
}

/**
 * Takes up the work that was under way when the owner was lost: a model call is made again, a begun call of an idempotent tool too, and about any other
 * begun call somebody is asked.
 */
function onTakeOver(frame: TurnFrame, state: TurnState): Step {
  if (state.phase === 'model') {
    return { ...still({ ...state, unseen: false }), commands: [{ kind: 'call-model', delayMs: 0, attempt: state.failures + 1 }] };
  }
  return state.calls
    .filter(({ stage }) => stage === 'running')
    .reduce((step, call) => then(step, (current) => resume(frame, current, call)), still(state));
}

function resume(frame: TurnFrame, state: TurnState, call: CallState): Step {
  if (call.effect === 'idempotent') return runCall(state, call);
  const asked: CallState = { ...call, stage: 'asked', approval: { id: frame.newId('approval'), reason: 'interrupted' } };
  return { state: { ...state, calls: replace(state.calls, asked) }, records: [approvalRequested(asked)], commands: [] };
}

function end(frame: TurnFrame, state: TurnState, how: Ending): Step {
  const failure = 'failure' in how ? { code: how.failure.code, message: how.failure.message } : null;
  return { state: { ...state, phase: 'ended', calls: [], failure }, records: endingRecords(frame.turnId, state, how), commands: [] };
}

/** The end of a turn from outside, with what the model had written of its answer. */
export function cancelledBy(turnId: string, before: TurnState, reason: string, cut?: CutAnswer): Pick<Step, 'state' | 'records'> {
  const state = withCut(before, cut);
  const kept = cut === undefined ? [] : [...brokenOff(state, cut), reasonFailed({ code: 'cancelled', message: reason, retryable: false })];
  return { state, records: [...kept, ...endingRecords(turnId, state, { cancelled: reason })] };
}

/** The records at the end of a turn, in whatever state: every call gets its one result first. */
export function endingRecords(turnId: string, state: TurnState, how: Ending): LoopRecord[] {
  const open = state.calls.filter(isOpen);
  return [...open.map((call) => callEnded(call, { status: 'cancelled', error: CUT_OFF }, 0)), ...ending(turnId, state, how)];
}

function replace(calls: readonly CallState[], changed: CallState): CallState[] {
  return calls.map((call) => (call.id === changed.id ? changed : call));
}
