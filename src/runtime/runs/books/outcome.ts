import { stripVTControlCharacters } from 'node:util';
import type { EventDraft, SidecarAccount } from '../../../adapters/adapter.ts';
import { AbpError, ERRORS, type ErrorCode, isErrorCode } from '../../../contract/errors.ts';
import type { AgentEvent } from '../../../contract/runs/event.ts';
import type { RunErrorCode } from '../../../contract/runs/run-error-table.ts';
import type { RunOptions } from '../../../contract/runs/run-options.ts';
import type { ExitReason, RunResult, RunState } from '../../../contract/runs/run-result.ts';
import type { AgentEnd } from '../process/agent-process.ts';

/** Why we ended a run ourselves. */
export type StopReason = 'aborted' | 'timeout' | 'inactivity' | 'turn_limit' | 'budget' | 'disk' | 'engine';

/** How a run ended, by itself or by us. */
export interface Ending {
  readonly exitReason: ExitReason;
  readonly state: RunState;
  readonly exit: AgentEnd['exit'];
  readonly error: RunResult['error'];
  /** A sidecar's own account. */
  readonly told?: SidecarAccount;
}

interface StopRow {
  readonly state: RunState;
  readonly code: RunErrorCode | 'E007';
  readonly message: string;
  /** The event that tells the listeners of the run. */
  event(options: Pick<RunOptions, 'maxTurns'>, why?: string): EventDraft;
}

const DISK = 'The staged workspace grew beyond the share of the disk that its caller has (limits.stages_mb).';

const UNREACHED = 'The engine cannot be reached.';

/** Every way in which we end a run. */
export const STOPS: Readonly<Record<StopReason, StopRow>> = {
  aborted: { state: 'aborted', code: 'ABORTED', message: 'The run was aborted.', event: () => ({ type: 'aborted' }) },
  timeout: {
    state: 'timed-out',
    code: 'TIMEOUT',
    message: 'The run took longer than its timeout.',
    event: () => ({ type: 'timeout', kind: 'run' }),
  },
  inactivity: {
    state: 'timed-out',
    code: 'INACTIVITY_TIMEOUT',
    message: 'The agent was silent for longer than its inactivity timeout.',
    event: () => ({ type: 'timeout', kind: 'inactivity' }),
  },
  turn_limit: {
    state: 'aborted',
    code: 'ABORTED',
    message: 'The run used all its turns.',
    event: ({ maxTurns = 0 }) => ({ type: 'turn_limit', maxTurns }),
  },
  // The union has no event for a budget, nor for a disk.
  budget: {
    state: 'aborted',
    code: 'ABORTED',
    message: 'The run used up its budget.',
    event: () => ({ type: 'error', code: 'ABORTED', message: 'The run used up its budget.', recoverable: false }),
  },
  disk: {
    state: 'aborted',
    code: 'ABORTED',
    message: DISK,
    event: (_, why) => ({ type: 'error', code: 'ABORTED', message: why ?? DISK, recoverable: false }),
  },
  engine: {
    state: 'aborted',
    code: 'E007',
    message: UNREACHED,
    event: (_, why) => ({ type: 'error', code: 'E007', message: why ?? UNREACHED, recoverable: false }),
  },
};

/** The stop that an event of the agent itself stands for; undefined for events after which a run may go on. */
export function stopIn(event: AgentEvent): StopReason | undefined {
  switch (event.type) {
    case 'aborted':
    case 'turn_limit':
      return event.type;
    case 'timeout':
      return event.kind === 'run' ? 'timeout' : 'inactivity';
    default:
      return undefined;
  }
}

/** How an agent ended, and what was known of its version. */
export interface Ended extends AgentEnd {
  readonly untested?: string | undefined;
  /** Why we ended the run, where that is not always the same. */
  readonly why?: string | undefined;
}

/** The ending of a run by the end of its agent. Our own stop outranks what the agent says about it. */
export function endingOf(end: Ended, stop: StopReason | undefined, interrupted: boolean): Ending {
  const { told } = end.outcome;
  const ending = judged(end, stop, interrupted);
  return told === undefined ? ending : { ...ending, told };
}

function judged(end: Ended, stop: StopReason | undefined, interrupted: boolean): Ending {
  const { exit, outcome, stderr } = end;
  const reason = stop ?? (outcome.limit === 'interrupted' ? undefined : outcome.limit);
  if (reason !== undefined) {
    const { state, code, message } = STOPS[reason];
    return { exitReason: reason === 'engine' ? 'failed' : reason, state, exit, error: errorOf(code, end.why ?? message, stderr) };
  }
  if (interrupted || outcome.limit === 'interrupted') return { exitReason: 'interrupted', state: 'interrupted', exit, error: null };
  if (outcome.ok) return { exitReason: 'completed', state: 'completed', exit, error: null };
  const code = codeOf(outcome.code);
  const error = errorOf(code, UNEXPLAINED.has(code) ? explained(end) : (outcome.message ?? deathOf(end)), stderr);
  if (exit.signal !== null && outcome.broken !== true) return { exitReason: 'killed', state: 'killed', exit, error };
  return code === 'AGENT_CRASH'
    ? { exitReason: 'crashed', state: 'crashed', exit, error }
    : { exitReason: 'failed', state: 'crashed', exit, error };
}

/** The same ending of an agent whose calls found nobody at the address of the engine. */
export function unreachedEnding(ending: Ending, message: string): Ending {
  return { ...ending, exitReason: 'failed', error: errorOf(STOPS.engine.code, message, ending.error?.stderr ?? '') };
}

/** A run that failed before its agent could be started. */
export function failedEnding(thrown: unknown, stop: StopReason | undefined): Ending {
  const exit = { code: null, signal: null };
  if (stop !== undefined) return endingOf({ exit, outcome: { ok: false }, stderr: '' }, stop, false);
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  const error = AbpError.is(thrown)
    ? { code: thrown.code, message, stderr: '', recoverable: thrown.retryable }
    : errorOf('INTERNAL', message, '');
  return { exitReason: 'failed', state: 'crashed', exit, error };
}

/** Lines and characters of its last words that stand in the message; the whole is beside it. */
const LAST_LINES = 5;
const LAST_CHARACTERS = 600;

/** Ends that a program has not put into words itself. */
const UNEXPLAINED: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'AGENT_CRASH',
  'PROTOCOL_HANDSHAKE_FAILED',
  'PROTOCOL_INVALID_ENVELOPE',
  'PROTOCOL_UNEXPECTED_MESSAGE',
]);

/** An agent that gave no reason is explained by its last words, and by a version that nobody has tried. */
function explained(end: Ended): string {
  const { outcome, stderr, untested } = end;
  const words = stripVTControlCharacters(stderr).trim().split('\n').slice(-LAST_LINES).join('\n').trim().slice(-LAST_CHARACTERS);
  const told = [
    ...(words === '' ? [] : [`Its last words were: ${words}`]),
    ...(untested === undefined ? [] : [`It may be the version: ${untested}.`]),
  ];
  const message = outcome.message ?? deathOf(end);
  return told.length === 0 ? message : [message, ...told].map(asSentence).join(' ');
}

/** Agents and adapters leave out the full stop where their words stand alone. */
function asSentence(text: string): string {
  return /[.!?:…]$/.test(text) ? text : `${text}.`;
}

function deathOf({ exit }: AgentEnd): string {
  return exit.signal === null ? `The agent ended with exit code ${exit.code}.` : `The agent was ended by ${exit.signal}.`;
}

function codeOf(code: string | undefined): ErrorCode {
  return code !== undefined && isErrorCode(code) ? code : 'AGENT_CRASH';
}

function errorOf(code: ErrorCode, message: string, stderr: string): NonNullable<RunResult['error']> {
  return { code, message, stderr, recoverable: ERRORS[code].retryable };
}
