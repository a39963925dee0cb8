import { existsSync, realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, sep } from 'node:path';
import type { Adapter } from '../../../adapters/adapter.ts';
import { pathGlobOf } from '../../../base/glob.ts';
import { homesOf, keptOutside } from '../../../confinement/bubblewrap.ts';
import { confiner, isObstacle } from '../../../confinement/confiner.ts';
import { ControlGroup, type GroupPlaces, groupPlaces } from '../../../confinement/control-groups.ts';
import type { Equipment, Obstacle } from '../../../confinement/equipment.ts';
import { shownAsIs } from '../../../confinement/room.ts';
import { AbpError } from '../../../contract/errors.ts';
import type { RuleRecord } from '../../../contract/receipts/parts.ts';
import type { RunId } from '../../../contract/run-id.ts';
import { type RunLimits, runLimits } from '../../../contract/runs/run-limits.ts';
import type { RunOptions } from '../../../contract/runs/run-options.ts';
import { secretFiles } from '../../../home/secret-files.ts';
import type { GatewayPort, OperatorPolicy } from '../../gateway-port.ts';
import { assertHeld, enforcementOf, needsSystem } from '../../policy/enforcement.ts';
import { joinLimits, limitEnforcement, limitRules, limitsNeedSystem, reserveRemark, roomLimits } from '../../policy/limits.ts';
import { pathRules } from '../../policy/path-rules.ts';
import { joinPolicies, type Policy } from '../../policy/rules.ts';
import { STAGE_LIMITS, Stage, stagesFolder } from '../../workspaces/stages.ts';
import { assertAnswerable } from '../dialogue/approval-gate.ts';
import type { Traffic } from '../traffic.ts';
import { EgressBook } from './egress-book.ts';
import { RunRoom } from './run-room.ts';

/** Where an agent works, what is behind that, and what holds it there. */
export interface Ground {
  /** The workspace as the agent calls it. */
  readonly cwd: string;
  readonly rules: readonly RuleRecord[];
  /** Whether a rule is only advice. */
  readonly enforcement: 'enforced' | 'advisory';
  readonly stage?: Stage;
  readonly room?: RunRoom;
  /** Hosts that the agent wanted to reach; filled while it runs. */
  readonly egress: EgressBook;
  readonly policy: Policy;
  readonly limits: RunLimits;
}

export interface GroundPlan {
  readonly adapter: Adapter;
  readonly options: RunOptions;
  readonly runId: RunId;
  readonly cwd: string;
  /** The home of this installation. */
  readonly home: string;
  readonly port: GatewayPort;
  readonly traffic: Traffic;
  /** Something that the caller of the run should hear. */
  readonly remark: (message: string) => void;
}

const MIB = 1024 * 1024;

/** The part of a run that is known before anything of it is started. */
type Judging = Pick<GroundPlan, 'adapter' | 'options' | 'cwd' | 'home' | 'port'> & Partial<Pick<GroundPlan, 'traffic'>>;

interface Judged {
  readonly policy: Policy;
  readonly staged: boolean;
  readonly rules: readonly RuleRecord[];
  readonly hidden: readonly string[];
  readonly equipment: Equipment | undefined;
  readonly limits: RunLimits;
  readonly groups: GroupPlaces;
}

/** Whether a run is held to anything at all. */
export function hasRules(options: RunOptions, port: GatewayPort): boolean {
  const { policy, sandbox } = options;
  const operator = port.policy ?? {};
  const lists = [...Object.values(policy ?? {}), ...Object.values(operator), limitRules(limitsOf(options, operator))];
  return sandbox === true || operator.sandbox === true || lists.some((list) => Array.isArray(list) && list.length > 0);
}

const limitsOf = ({ limits }: RunOptions, operator: OperatorPolicy): RunLimits =>
  joinLimits(runLimits(operator.limits ?? {}), limits ?? {});

/** Throws E005 where nothing would hold the policy of a run. */
export async function assertPolicyHolds(judging: Judging): Promise<void> {
  await judgePolicy(judging);
}

/** Who holds what; throws what nothing holds. */
async function judgePolicy(judging: Judging): Promise<Judged> {
  const { options, port, cwd, adapter } = judging;
  const operator = port.policy ?? {};
  const policy = joinPolicies(operator, options.policy ?? {});
  const asked = options.sandbox === true || operator.sandbox === true;
  const staged = options.workspace?.mode === 'staged';
  assertAnswerable(policy.require_approval_for, options);
  const limits = limitsOf(options, operator);
  const found = asked || needsSystem(policy) || limitsNeedSystem(limits) ? await equipmentFor(judging, staged) : undefined;
  const external = operator.enforcement === 'external';
  // A caller may take its own rules for advice; those of the operator only the operator.
  const isAdvice = (rule: string): boolean =>
    operator.enforcement === 'advisory' || (options.enforcement === 'advisory' && !isRuleOf(operator, rule));
  const toolsByName = adapter.takesToolRules !== undefined;
  const toolsByPattern = adapter.takesToolRules === 'patterns';
  const groups = limitsNeedSystem(limits) ? groupPlaces() : {};
  const onLimits = limitEnforcement(limits, { sandbox: found, staged, external, groups });
  const onPolicy = enforcementOf(policy, {
    sandbox: found,
    workspace: cwd,
    staged,
    toolsByName,
    toolsByPattern,
    wireObstacle: wireObstacle(judging, found),
    external,
    waitsForEvery: waitsForEvery(judging),
  });
  const enforcement = { rules: [...onPolicy.rules, ...onLimits.rules], unheld: [...onPolicy.unheld, ...onLimits.unheld] };
  const advice = assertHeld(enforcement, isAdvice);
  return {
    policy,
    staged,
    rules: [...(asked ? sandboxRule(found, { external, advisory: isAdvice('sandbox') }) : []), ...enforcement.rules, ...advice],
    hidden: onPolicy.hidden,
    equipment: found === undefined || isObstacle(found) ? undefined : found,
    limits,
    groups,
  };
}

/** Why rules about tools do not hold on the wire. Out of a room a connection carries its run; without one anybody may come past the key. */
function wireObstacle({ traffic, port, adapter, options }: Judging, found: Equipment | Obstacle | undefined): string | undefined {
  const direct = traffic === undefined ? options.direct === true || adapter.traffic.unserved !== undefined : traffic.kind === 'direct';
  if (direct) return 'its model calls do not pass the gateway';
  if (traffic?.kind === 'gateway' && traffic.credential === 'caller') return 'it runs on a login of its own, whose calls pass unchanged';
  const open = 'callers without a key may come past the gateway';
  if (port.enforcement === 'enforced') return undefined;
  if (found === undefined) return `${open}: run with --sandbox, or close auth.local`;
  return isObstacle(found) ? `${open}, and there is no sandbox: ${found.reason}. ${found.remedy.replace(/\.$/, '')}` : undefined;
}

/** Whether the agent, started as one that is watched, waits before every tool. */
function waitsForEvery({ adapter, options, cwd }: Judging): boolean {
  const plan = { options, thinking: {}, runFolder: '', cwd, answerable: true, interactive: false, watched: true };
  return adapter.waitsFor?.(plan) === 'every-tool';
}

function isRuleOf(operator: OperatorPolicy, rule: string): boolean {
  if (rule === 'sandbox') return operator.sandbox === true;
  if (limitRules(runLimits(operator.limits ?? {})).includes(rule)) return true;
  return Object.entries(operator).some(
    ([list, entries]) =>
      Array.isArray(entries) &&
      // Where the operator allows some things only, a run can allow a part of them and no more.
      (list.startsWith('allow')
        ? entries.length > 0 && rule.startsWith(`${list}: `)
        : entries.some((entry) => rule === `${list}: ${entry}`)),
  );
}

/** Lays the ground for a run: a stage where one is wanted, a room where the policy or the caller asks for one. Refuses what nothing holds. */
export async function layGround(plan: GroundPlan): Promise<Ground> {
  const judged = await judgePolicy(plan);
  const { policy, staged, rules, equipment, limits } = judged;
  const stage = staged ? await Stage.make(stagesFolder(plan.home), plan.runId, stagePlan(plan, judged), plan.port.disk) : undefined;
  const leftOut = stage?.staged.historyLeftOut;
  if (leftOut !== undefined) plan.remark(`the staged copy has no git history: ${leftOut}`);
  const egress = new EgressBook();
  const room = equipment === undefined ? undefined : roomOf(plan, { ...judged, equipment, stage, egress });
  return {
    cwd: stage === undefined || room !== undefined ? plan.cwd : stage.tree,
    rules,
    enforcement: rules.some(({ by }) => by === 'advisory') ? 'advisory' : 'enforced',
    policy,
    limits,
    egress,
    ...(stage === undefined ? {} : { stage }),
    ...(room === undefined ? {} : { room }),
  };
}

/** The rule that the caller set with the sandbox itself. */
function sandboxRule(found: Equipment | Obstacle | undefined, how: { advisory: boolean; external: boolean }): RuleRecord[] {
  if (found === undefined) return [];
  if (!isObstacle(found)) return [{ rule: 'sandbox', by: 'os', detail: 'bubblewrap, private namespaces, filter of system calls' }];
  if (how.external) return [{ rule: 'sandbox', by: 'external', detail: 'by the word of the operator' }];
  const reason = `${found.reason}. ${found.remedy}`;
  if (how.advisory) return [{ rule: 'sandbox', by: 'advisory', detail: reason }];
  throw new AbpError('E005', `The policy cannot be enforced here: sandbox: ${reason}`, { operation: 'run', policy_rule: 'sandbox' });
}

/** The means to confine this run. Root is left: for the owner of the workspace, or, in a staged copy, for nobody. */
async function equipmentFor({ cwd, home, adapter, traffic, port }: Judging, staged: boolean): Promise<Equipment | Obstacle> {
  assertRoomFor(realpathSync(cwd), home);
  if (adapter.capabilities.requiresPty) {
    return { reason: `${adapter.displayName} needs a terminal of its own, which a room does not have`, remedy: 'Choose another agent.' };
  }
  if (port.takeConnection === undefined) {
    return {
      reason: 'a room is opened by the process that has the gateway, and this one borrows it from a server',
      remedy: 'Start the run with abp run or POST /v1/runs.',
    };
  }
  const alone = traffic?.kind === 'direct' && traffic.needsNone !== true;
  if (traffic !== undefined && (alone || (traffic.kind === 'gateway' && traffic.credential === 'caller'))) {
    const reason = traffic.kind === 'direct' ? traffic.reason : 'the engine has no key here, and the login of the user stays outside';
    return { reason: `the agent has no engine inside: ${reason}`, remedy: 'Choose an engine with a key, such as --engine sim.' };
  }
  const found = await confiner.equipment();
  if (isObstacle(found) || found.identity === undefined || staged) return found;
  const { uid, gid } = statSync(cwd);
  if (uid !== 0) return { ...found, identity: { uid, gid } };
  return { reason: 'the workspace belongs to root, and an agent does not run as root', remedy: 'Run with --staged.' };
}

/** A workspace that holds what must stay outside cannot be shown. */
function assertRoomFor(workspace: string, home: string): void {
  const holds = [homedir(), home].find((path) => workspace === '/' || path === workspace || path.startsWith(`${workspace}${sep}`));
  if (holds === undefined) return;
  throw new AbpError('E005', `The policy cannot be enforced here: the workspace ${workspace} holds ${holds}, which must stay outside.`, {
    operation: 'run',
    policy_rule: 'sandbox',
  });
}

function stagePlan({ options, cwd, home }: GroundPlan, { policy, equipment, limits: { diskMb } }: Judged) {
  return {
    source: cwd,
    include: options.workspace?.include ?? [],
    // A copy in the home would hold copies of itself.
    exclude: [...(options.workspace?.exclude ?? []), ...patternsIn(cwd, [home, ...(equipment === undefined ? [] : secretFiles())])],
    denyRead: pathRules(policy.deny_read, cwd).inside,
    denyWrite: pathRules(policy.deny_write, cwd).inside,
    borrows: equipment !== undefined,
    limits: diskMb === undefined ? STAGE_LIMITS : { ...STAGE_LIMITS, bytes: Math.min(STAGE_LIMITS.bytes, diskMb * MIB) },
    ...(equipment?.identity === undefined ? {} : { owner: equipment.identity }),
  };
}

/** Patterns for those of these paths that lie in a workspace. A staged copy is made without them; one for a room without files that hold secrets of this installation. */
function patternsIn(workspace: string, paths: readonly string[]): string[] {
  const root = realpathSync(workspace);
  const real = paths.map((path) => (existsSync(path) ? realpathSync(path) : path));
  return real.flatMap((path) => (path.startsWith(`${root}${sep}`) ? [pathGlobOf(path.slice(root.length + 1))] : []));
}

interface RoomParts extends Pick<Judged, 'policy' | 'hidden' | 'limits' | 'groups'> {
  readonly equipment: Equipment;
  readonly stage: Stage | undefined;
  readonly egress: EgressBook;
}

function roomOf(
  { adapter, options, home, cwd, port, runId, remark }: GroundPlan,
  { equipment, policy, stage, hidden, egress, limits, groups }: RoomParts,
): RunRoom {
  const tight = reserveRemark(limits, adapter);
  if (tight !== undefined) remark(tight);
  const borrowed = (stage?.staged.borrowed ?? []).map((path) => ({ source: join(cwd, path), at: join(cwd, path), writable: false }));
  const objects = (stage?.staged.history?.objects ?? []).map((path) => shownAsIs(path));
  return new RunRoom({
    equipment,
    agent: adapter.agent,
    homes: join(home, 'rooms'),
    project: realpathSync(cwd),
    // Nothing may be changed: then nothing can be.
    workspace: { source: stage?.tree ?? cwd, at: cwd, writable: options.approvalMode !== 'deny' },
    places: [...borrowed, ...objects],
    hidden,
    outside: keptOutside([homedir(), home, ...homesOf(equipment.identity?.uid ?? process.getuid?.())]),
    secrets: secretFiles(),
    denied: pathRules(policy.deny_read, cwd).outside,
    limits: roomLimits(limits, groups, adapter.reservesMb),
    group: groupOf(runId, limits, groups),
    rules: { allow: policy.allow_network, deny: policy.deny_network },
    admit: (socket) => port.takeConnection?.(runId, socket),
    onEgress: (record) => {
      const isNew = egress.add(record);
      if (isNew && record.refused !== undefined) remark(`the agent may not reach ${record.host}:${record.port}: it ${record.refused}`);
    },
  });
}

/** A group for what is limited of all processes together; undefined where nothing is. */
function groupOf(runId: RunId, { processes, memoryMb }: RunLimits, groups: GroupPlaces): ControlGroup | undefined {
  if (processes === undefined && memoryMb === undefined) return undefined;
  return ControlGroup.make(groups, runId, { processes, ...(memoryMb !== undefined && { memoryBytes: memoryMb * MIB }) });
}

/** The rules of a run when it has ended, with every limit that it came to and every place that it reached or wanted to reach. */
export function rulesAtEnd({ rules, egress, room }: Ground): readonly RuleRecord[] {
  return [...(room?.withStops(rules) ?? rules), ...egress.rules()];
}
