import { statSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import type { Adapter } from '../../adapters/adapter.ts';
import { checkHooks } from '../../adapters/hooks.ts';
import type { RunId } from '../../contract/run-id.ts';
import type { AgentCapabilities } from '../../contract/runs/coding-agent.ts';
import { AgentMuxError, ValidationError } from '../../contract/runs/run-error.ts';
import { HOOK_TYPES } from '../../contract/runs/run-hooks.ts';
import type { RunOptions } from '../../contract/runs/run-options.ts';
import type { RunDeps } from './deps.ts';
import type { LocalRunOptions, RunHandle } from './handle.ts';
import { Run } from './run.ts';

/**
 * Starts a coding agent. Options are parsed already; everything that can be refused without looking at the machine is refused here, by a
 * throw, before anything is spawned. What is found out later ends the run, and its result says so.
 */
export function startRun(adapter: Adapter, options: LocalRunOptions, deps: RunDeps, runId?: RunId): RunHandle {
  const cwd = checkStart(adapter, options, deps);
  checkCallbacks(adapter, options);
  return new Run({ adapter, options: withMode(options), cwd, deps, ...(runId === undefined ? {} : { runId }) });
}

/** A caller who gives a callback for approvals and no mode wants to be asked. */
function withMode(options: LocalRunOptions): LocalRunOptions {
  const { approvalMode, onApprovalRequest } = options;
  return approvalMode === undefined && onApprovalRequest !== undefined ? { ...options, approvalMode: 'prompt' } : options;
}

/** Throws what a start would throw; the folder of the run. */
export function checkStart(adapter: Adapter, options: RunOptions, { agents, env }: Pick<RunDeps, 'agents' | 'env'>): string {
  const cwd = folderOf(options);
  const effective = agents.effective(adapter, options, { ...env, ...options.env });
  agents.check(adapter, effective, options);
  assertListens(adapter, effective, options);
  return cwd;
}

function folderOf({ cwd = process.cwd() }: RunOptions): string {
  if (isAbsolute(cwd) && statSync(cwd, { throwIfNoEntry: false })?.isDirectory() === true) return cwd;
  throw new ValidationError([{ field: 'cwd', message: 'must be the absolute path of a folder', received: cwd }]);
}

/** Hooks that do not exist, that are no functions, or that the agent could never call. */
function checkCallbacks(adapter: Adapter, { hooks = {} }: LocalRunOptions): void {
  const names: readonly string[] = HOOK_TYPES;
  const faults = Object.entries(hooks).flatMap(([name, hook]) => {
    if (!names.includes(name)) return [{ field: `hooks.${name}`, message: `is not one of ${names.join(', ')}` }];
    return hook === undefined || typeof hook === 'function' ? [] : [{ field: `hooks.${name}`, message: 'must be a function' }];
  });
  if (faults.length > 0) throw new ValidationError(faults);
  checkHooks(adapter, hooks);
}

/** A caller who wants to talk to the agent while it runs gets one that listens, or none. */
function assertListens(adapter: Adapter, effective: AgentCapabilities, { nonInteractive }: RunOptions): void {
  if (nonInteractive !== false || (adapter.messages !== undefined && effective.supportsStdinInjection)) return;
  const { agent, displayName } = adapter;
  throw new AgentMuxError('STDIN_NOT_AVAILABLE', `${displayName} takes no messages while it runs.`, { agent });
}
