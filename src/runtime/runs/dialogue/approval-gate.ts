import { globMatch } from '../../../base/glob.ts';
import { AbpError } from '../../../contract/errors.ts';
import type { RunHooks } from '../../../contract/runs/run-hooks.ts';
import type { Policy } from '../../policy/rules.ts';
import type { LocalRunOptions } from '../handle.ts';
import type { AskedTool, Decision } from './approvals.ts';

/** Whether a rule of `require_approval_for` names a tool. Agents write the same tool with other capitals. */
function needsApproval(patterns: readonly string[], toolName: string): boolean {
  return patterns.some((pattern) => globMatch(pattern.toLowerCase(), toolName.toLowerCase()));
}

/** Hooks of a run that is about to start; the one that sees tools may still get a gate before it. */
export type CalledHooks = { -readonly [T in keyof RunHooks]: RunHooks[T] };

/** Tools that the policy of the run or of the operator wants an approval for wait for one. */
export function gateTools(
  hooks: CalledHooks,
  { require_approval_for: patterns }: Policy,
  ask: (tool: AskedTool) => Promise<Decision>,
): void {
  if (patterns.length > 0) hooks.preToolUse = approvalHook(patterns, hooks.preToolUse, ask);
}

/** The hook of a run whose policy wants approvals: the caller's own hook first, then the people who answer questions. */
function approvalHook(
  patterns: readonly string[],
  own: RunHooks['preToolUse'],
  ask: (tool: AskedTool) => Promise<Decision>,
): NonNullable<RunHooks['preToolUse']> {
  return async (call) => {
    const said = (await own?.(call)) ?? undefined;
    if (said?.decision === 'deny' || !needsApproval(patterns, call.data.toolName)) return said;
    const { approve, reason } = await ask(call.data);
    return approve ? said : { decision: 'deny', message: reason ?? 'The approval was denied.' };
  };
}

/** Throws E004 where the policy wants approvals and nobody could give one. */
export function assertAnswerable(patterns: readonly string[], { nonInteractive, onApprovalRequest }: LocalRunOptions): void {
  if (patterns.length === 0 || nonInteractive !== true || onApprovalRequest !== undefined) return;
  const operation = `require_approval_for: ${patterns.join(', ')}`;
  const message = `The run needs an approval before ${patterns.join(', ')}, and nobody can answer: it was started as one that nobody talks to.`;
  throw new AbpError('E004', message, { operation, risk_level: 'medium' });
}
