import type { AgentEvent } from '../../../contract/runs/event.ts';
import type { RunOptions } from '../../../contract/runs/run-options.ts';
import type { RunResult } from '../../../contract/runs/run-result.ts';
import type { Ending } from './outcome.ts';
import type { RunAccount } from './settlement.ts';
import type { Tally } from './tally.ts';

export interface ResultParts {
  readonly run: Pick<RunResult, 'runId' | 'agent'>;
  readonly options: RunOptions;
  readonly tally: Tally;
  readonly ending: Ending;
  readonly spent: Omit<RunAccount, 'ending'>;
  readonly durationMs: number;
  readonly events: AgentEvent[];
}

/** The result of a run. */
export function resultOf({ run, options, tally, ending, spent, durationMs, events }: ResultParts): RunResult {
  const { exitReason, exit, error } = ending;
  return {
    runId: run.runId,
    agent: run.agent,
    sessionId: tally.sessionId,
    text: tally.text,
    ...spent,
    durationMs,
    exitCode: exit.code,
    signal: exit.signal,
    exitReason,
    turnCount: tally.turnCount,
    error,
    events,
    tags: options.tags ?? [],
    ...(options.projectId !== undefined && { projectId: options.projectId }),
  };
}
