import { isAbsolute } from 'node:path';
import type { Adapter } from '../../adapters/adapter.ts';
import { asksForMore } from '../../adapters/gates.ts';
import { checkHooks } from '../../adapters/hooks.ts';
import { lookAt } from '../../base/paths/look-at.ts';
import type { AgentCapabilities } from '../../contract/runs/coding-agent.ts';
import { AgentMuxError, ValidationError } from '../../contract/runs/run-error.ts';
import { HOOK_TYPES } from '../../contract/runs/run-hooks.ts';
import type { RunOptions } from '../../contract/runs/run-options.ts';
import { assertPatterns } from '../policy/rules.ts';
import { checkAttachments } from './attachments.ts';
import type { AgentKnowledge, Detected, RunPlace } from './deps.ts';
import type { LocalRunOptions } from './handle.ts';

/** A run whose options have passed every gate. Agents are started from one of these alone, so that nobody has to check again. */
export interface GatedRun {
  readonly adapter: Adapter;
  readonly options: LocalRunOptions;
  /** The folder of the run; it exists. */
  readonly cwd: string;
  /** The abilities that the gates compared the options with. */
  readonly effective: AgentCapabilities;
}

type Gatekeeper = Pick<RunPlace, 'agents' | 'env'>;

/** Throws what can be refused without starting anything. Options are parsed already. */
export function passGates(adapter: Adapter, options: LocalRunOptions, { agents, env }: Gatekeeper): GatedRun {
  const cwd = folderOf(options);
  assertPatterns(options);
  const effective = agents.effective(adapter, options, { ...env, ...options.env });
  checkAbilities(agents, adapter, effective, options);
  checkCallbacks(adapter, options);
  return { adapter, options: withMode(options), cwd, effective };
}

/** As `passGates`, for a caller who can wait: the installed version is asked without blocking the process, so that the first answer is like the second. */
export async function passGatesInstalled(adapter: Adapter, options: LocalRunOptions, gatekeeper: Gatekeeper): Promise<GatedRun> {
  const { agents, env } = gatekeeper;
  if (asksForMore(options)) await agents.detect(adapter, { ...env, ...options.env });
  return passGates(adapter, options, gatekeeper);
}

/** Checks once more where the version that is about to be started has other abilities than those that the gates saw. */
export function recheck({ adapter, options, effective }: GatedRun, agents: AgentKnowledge, detected: Detected): void {
  if (detected.effective === effective || !asksForMore(options)) return;
  checkAbilities(agents, adapter, detected.effective, options);
}

function checkAbilities(agents: AgentKnowledge, adapter: Adapter, effective: AgentCapabilities, options: RunOptions): void {
  agents.check(adapter, effective, options);
  checkAttachments(adapter, options);
  assertListens(adapter, effective, options);
}

/** A caller who gives a callback for approvals and no mode wants to be asked. */
function withMode(options: LocalRunOptions): LocalRunOptions {
  const { approvalMode, onApprovalRequest } = options;
  return approvalMode === undefined && onApprovalRequest !== undefined ? { ...options, approvalMode: 'prompt' } : options;
}

function folderOf({ cwd = process.cwd() }: RunOptions): string {
  const message = folderFault(cwd);
  if (message === undefined) return cwd;
  throw new ValidationError([{ field: 'cwd', message, received: cwd }]);
}

function folderFault(cwd: string): string | undefined {
  if (!isAbsolute(cwd)) return 'must be the absolute path of a folder';
  const { stats, fault } = lookAt(cwd);
  if (stats === undefined) return `${fault} on the machine that would run the agent`;
  return stats.isDirectory() ? undefined : 'is a file; the agent needs a folder to work in';
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
