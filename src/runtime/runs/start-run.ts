import { statSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import type { Adapter } from '../../adapters/adapter.ts';
import type { AgentCapabilities } from '../../contract/coding-agent.ts';
import { AgentMuxError, ValidationError } from '../../contract/run-error.ts';
import type { RunId } from '../../contract/run-id.ts';
import type { RunOptions } from '../../contract/run-options.ts';
import type { AgentKnowledge, RunDeps } from './deps.ts';
import type { LocalRunOptions, RunHandle } from './handle.ts';
import { Run } from './run.ts';

/**
 * Starts a coding agent. Options are parsed already; everything that can be refused without looking at the machine is refused here, by a
 * throw, before anything is spawned. What is found out later ends the run, and its result says so.
 */
export function startRun(adapter: Adapter, options: LocalRunOptions, deps: RunDeps, runId?: RunId): RunHandle {
  const cwd = checkStart(adapter, options, deps.agents);
  return new Run({ adapter, options, cwd, deps, ...(runId === undefined ? {} : { runId }) });
}

/** Throws what a start would throw; the folder of the run. */
export function checkStart(adapter: Adapter, options: RunOptions, agents: AgentKnowledge): string {
  const effective = agents.effective(adapter);
  agents.check(adapter, effective, options);
  assertListens(adapter, effective, options);
  const cwd = options.cwd ?? process.cwd();
  if (isAbsolute(cwd) && statSync(cwd, { throwIfNoEntry: false })?.isDirectory() === true) return cwd;
  throw new ValidationError([{ field: 'cwd', message: 'must be the absolute path of a folder', received: cwd }]);
}

/** A caller who wants to talk to the agent while it runs gets one that listens, or none. */
function assertListens(adapter: Adapter, effective: AgentCapabilities, { nonInteractive }: RunOptions): void {
  if (nonInteractive !== false || (adapter.messages !== undefined && effective.supportsStdinInjection)) return;
  const { agent, displayName } = adapter;
  throw new AgentMuxError('STDIN_NOT_AVAILABLE', `${displayName} takes no messages while it runs.`, { agent });
}
