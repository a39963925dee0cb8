import { isObstacle } from '../../confinement/confiner.ts';
import type { Equipment, Obstacle } from '../../confinement/equipment.ts';
import { hostPattern } from '../../confinement/host-patterns.ts';
import { AbpError } from '../../contract/errors.ts';
import type { RuleRecord } from '../../contract/receipts/parts.ts';
import { pathRules, systemPathsUnder } from './path-rules.ts';
import type { Policy } from './rules.ts';

/** The means by which this machine can hold a policy. */
export interface Means {
  /** Undefined when nothing of the policy needs the operating system. */
  readonly sandbox: Equipment | Obstacle | undefined;
  readonly workspace: string;
  readonly staged: boolean;
  /** Tools that the agent can be made not to have, by name. */
  readonly toolsByName: boolean;
  /** And by patterns. */
  readonly toolsByPattern?: boolean;
  /** Why the gateway does not hold rules about tools on the wire; undefined where it does. */
  readonly wireObstacle?: string | undefined;
  /** The agent waits for us before every tool. */
  readonly waitsForEvery?: boolean;
  /** The operator says that something around the backplane holds the policy. */
  readonly external: boolean;
}

/** A rule that nothing here holds. */
interface Unheld {
  readonly rule: string;
  readonly reason: string;
}

export interface Enforcement {
  readonly rules: readonly RuleRecord[];
  readonly unheld: readonly Unheld[];
  /** Files of the system that must not be shown. */
  readonly hidden: readonly string[];
}

type Held = Omit<RuleRecord, 'rule'>;
export type Verdict = Held | { readonly unheld: string };

/** Whether a policy asks for what only the operating system can hold. */
export function needsSystem(policy: Policy): boolean {
  return [policy.deny_read, policy.deny_write, policy.allow_network, policy.deny_network].some((list) => list.length > 0);
}

/** Who holds each rule. */
export function enforcementOf(policy: Policy, means: Means): Enforcement {
  const hidden = policy.deny_read.flatMap((pattern) =>
    pathRules([pattern], means.workspace).outside.flatMap((one) => systemPathsUnder(one).hidden),
  );
  const judged = [
    ...policy.deny_read.map((pattern) => ['deny_read', pattern, onRead(pattern, means)] as const),
    ...policy.deny_write.map((pattern) => ['deny_write', pattern, onWrite(pattern, means)] as const),
    ...policy.allow_network.map((host) => ['allow_network', host, onHost(host, means, 'the proxy lets nothing else through')] as const),
    ...policy.deny_network.map((host) => ['deny_network', host, onHost(host, means, 'the proxy refuses it')] as const),
    ...policy.disallowed_tools.flatMap((tool) => onTool(tool, means).map((verdict) => ['disallowed_tools', tool, verdict] as const)),
    ...policy.allowed_tools.flatMap((tool) => onAllowed(tool, means).map((verdict) => ['allowed_tools', tool, verdict] as const)),
    ...policy.require_approval_for.map((tool) => ['require_approval_for', tool, onApproval(means)] as const),
  ].map(([list, entry, verdict]) => ({ rule: `${list}: ${entry}`, verdict }));
  return {
    hidden,
    rules: judged.flatMap(({ rule, verdict }) => ('unheld' in verdict ? [] : [{ rule, ...verdict }])),
    unheld: judged.flatMap(({ rule, verdict }) => ('unheld' in verdict ? [{ rule, reason: verdict.unheld }] : [])),
  };
}

export function bySystem({ sandbox, external }: Pick<Means, 'sandbox' | 'external'>, detail: string): Verdict {
  if (sandbox !== undefined && !isObstacle(sandbox)) return { by: 'os', detail };
  if (external) return { by: 'external', detail: 'by the word of the operator' };
  return { unheld: sandbox === undefined ? 'the run has no sandbox' : `${sandbox.reason}. ${sandbox.remedy}` };
}

/** No proxy can compare hosts with what names none. */
function onHost(host: string, means: Means, detail: string): Verdict {
  try {
    hostPattern(host);
  } catch (error) {
    return { unheld: error instanceof Error ? error.message : String(error) };
  }
  return bySystem(means, detail);
}

const NEEDS_STAGE = 'a path inside the workspace can be held in a staged one only. Run with --staged.';

function onRead(pattern: string, means: Means): Verdict {
  const { inside, outside } = pathRules([pattern], means.workspace);
  if (inside.length > 0 && !means.staged && !means.external) return { unheld: NEEDS_STAGE };
  if (outside.some((one) => systemPathsUnder(one).reachesShown) && !means.external) {
    return { unheld: 'programs and libraries of the system are always shown' };
  }
  return bySystem(means, inside.length > 0 ? 'it is not in the staged copy' : 'it is not shown');
}

function onWrite(pattern: string, means: Means): Verdict {
  const { inside } = pathRules([pattern], means.workspace);
  if (inside.length > 0 && !means.staged && !means.external) return { unheld: NEEDS_STAGE };
  return bySystem(
    means,
    inside.length > 0 ? 'the original cannot be written, and such a change is not applied' : 'nothing outside can be written',
  );
}

const PATTERN = /[*?[{]/;
const ONLY_NAMES = 'the agent takes names of tools, no patterns';

/** The agent itself, the gateway on the wire, or both; neither is a reason to refuse. */
function onTool(tool: string, means: Means): Verdict[] {
  const unable = 'the agent cannot be made to do without a tool';
  return heldBy(
    byAgent(tool, means, { unable, detail: 'the agent is started without it' }),
    onWire(means, 'it is taken out of every offer, and a call of it is refused'),
  );
}

function onAllowed(tool: string, means: Means): Verdict[] {
  const unable = 'the agent cannot be held to some tools';
  return heldBy(
    byAgent(tool, means, { unable, detail: 'the agent is started with the allowed ones alone' }),
    onWire(means, 'others are taken out of every offer, and a call of them is refused'),
  );
}

function byAgent(tool: string, { toolsByName, toolsByPattern }: Means, { unable, detail }: { unable: string; detail: string }): Verdict {
  if (!toolsByName) return { unheld: unable };
  return toolsByPattern !== true && PATTERN.test(tool) ? { unheld: ONLY_NAMES } : { by: 'agent', detail };
}

function onWire({ wireObstacle }: Means, detail: string): Verdict {
  return wireObstacle === undefined ? { by: 'wire', detail } : { unheld: wireObstacle };
}

function heldBy(...verdicts: readonly Verdict[]): Verdict[] {
  const held = verdicts.filter((verdict) => 'by' in verdict);
  const reasons = verdicts.flatMap((verdict) => ('unheld' in verdict ? [verdict.unheld] : []));
  return held.length > 0 ? held : [{ unheld: reasons.join(', and ') }];
}

/** An agent asks by its own rules; one that waits for us before every tool is held to ours. */
function onApproval({ waitsForEvery }: Means): Verdict {
  if (waitsForEvery === true) return { by: 'agent', detail: 'the agent waits before every tool, and such a call is asked about' };
  return { unheld: 'the agent cannot be made to wait before every tool' };
}

/** Refuses a run whose policy nothing holds. A rule that is accepted as advice does not stop it, and its receipt says so. */
export function assertHeld({ unheld }: Pick<Enforcement, 'unheld'>, isAdvice: (rule: string) => boolean): RuleRecord[] {
  const standing = unheld.filter(({ rule }) => !isAdvice(rule));
  const [first] = standing;
  if (first !== undefined) {
    const more = standing.length === 1 ? '' : ` (and ${standing.length - 1} more)`;
    const reason = first.reason.endsWith('.') ? first.reason : `${first.reason}.`;
    throw new AbpError('E005', `The policy cannot be enforced here: ${first.rule}${more}: ${reason}`, {
      operation: 'run',
      policy_rule: first.rule,
      rules: standing.map(({ rule, reason: why }) => ({ rule, reason: why })),
    });
  }
  return unheld.map(({ rule, reason }) => ({ rule, by: 'advisory', detail: reason }));
}
