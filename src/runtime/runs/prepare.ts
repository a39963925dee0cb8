import type { SpawnPlan, SpawnSpec, WaitsFor } from '../../adapters/adapter.ts';
import { AbpError } from '../../contract/errors.ts';
import type { RunId } from '../../contract/run-id.ts';
import { AgentMuxError } from '../../contract/runs/run-error.ts';
import { type RunOptions, runTags } from '../../contract/runs/run-options.ts';
import type { GatewayPort, RunAdmitted } from '../gateway-port.ts';
import { assertEngineTakes, readAttachments } from './attachments.ts';
import type { Detected, RunDeps, Wanted } from './deps.ts';
import { type GatedRun, recheck } from './gated-run.ts';
import { type Ground, layGround } from './ground/ground.ts';
import { GATEWAY_INSIDE } from './ground/run-room.ts';
import { childEnvironment, type EnvironmentSources } from './process/environment.ts';
import { openRunFolder, type RunFolder, runsFolder } from './process/run-folder.ts';
import { admissionAsk, carriedRows, chooseTraffic, gatewayRoute, type Traffic } from './traffic.ts';
import { lostOverrides, type SetThinking, thinkingToSet, withSetThinking } from './wire-thinking.ts';

const DAY_MS = 24 * 3600 * 1000;

/** A run that can be started. */
export interface Prepared {
  readonly port: GatewayPort;
  /** Agents are started from a prepared run alone, and there is none without this. */
  readonly admitted: RunAdmitted;
  readonly folder: RunFolder;
  readonly detected: Detected;
  readonly traffic: Traffic;
  readonly wanted: Wanted;
  readonly plan: SpawnPlan;
  readonly spec: SpawnSpec;
  readonly command: string;
  readonly env: Record<string, string>;
  /** Before which tools the agent waits in this run. */
  readonly waitsFor: WaitsFor;
  /** Where it works, and what holds it there. */
  readonly ground: Ground;
}

export interface Preparing extends GatedRun {
  readonly runId: RunId;
  readonly deps: RunDeps;
  readonly answerable: boolean;
  readonly interactive: boolean;
  /** Who wants to see tools before they run, whatever the approval mode says. */
  readonly consulted?: { readonly callback: boolean; readonly hook: boolean };
  /** Something of the run that its caller should hear. */
  readonly remark?: (message: string) => void;
}

/** Finds the agent, checks the options against the version that is there, and decides how its model traffic goes. */
export async function prepare(run: Preparing, port: GatewayPort): Promise<Prepared> {
  const { adapter, options, deps, runId } = run;
  assertBudgetHolds(options, port);
  const detected = await detect(run);
  const wanted = deps.agents.wanted(adapter, options);
  const traffic = await chooseTraffic(adapter, options, port, wanted);
  assertEngineTakes(adapter, options, traffic);
  const admitted = deps.admitted ?? (await port.admit(admissionAsk(runId, adapter, options, traffic)));
  const folder = openRunFolder(runsFolder(deps.homePath), runId, deps.ownerPid);
  try {
    const ground = await layGround(groundPlan(run, port, traffic));
    try {
      return await planned(run, port, { admitted, detected, traffic, wanted, folder, ground });
    } catch (error) {
      ground.room?.close();
      await ground.stage?.remove();
      throw error;
    }
  } catch (error) {
    folder.remove();
    throw error;
  }
}

/** A limit that anybody on this machine can go around is no limit, unless the caller says that it will do. */
export function assertBudgetHolds({ maxBudgetUsd, enforcement }: RunOptions, port: GatewayPort): void {
  if (maxBudgetUsd === undefined || enforcement === 'advisory' || port.enforcement === 'enforced') return;
  const message = 'A budget does not hold here: callers without a key may come past it. Close auth.local, or accept enforcement: advisory.';
  throw new AbpError('E005', message, { operation: 'run', policy_rule: 'maxBudgetUsd' });
}

function groundPlan(run: Preparing, port: GatewayPort, traffic: Traffic): Parameters<typeof layGround>[0] {
  const { adapter, options, runId, cwd, deps, remark = () => undefined } = run;
  return {
    adapter,
    options,
    runId,
    cwd,
    home: deps.homePath,
    port,
    traffic,
    remark,
  };
}

type Found = Pick<Prepared, 'admitted' | 'detected' | 'traffic' | 'wanted' | 'folder' | 'ground'>;

/** The agent waits for nobody, or not for everything: a hook is then told and cannot stop. */
const UNSTOPPED: Readonly<Record<WaitsFor, string | undefined>> = {
  nothing: 'the agent does not wait for it in this run; it is only told',
  'what-it-asks': 'tools that the agent runs without asking do not wait for it; it is only told of those',
  'every-tool': undefined,
};

async function planned(run: Preparing, port: GatewayPort, found: Found): Promise<Prepared> {
  const { adapter, options, deps, runId } = run;
  const { traffic, detected, ground } = found;
  const reached = { url: ground.room === undefined ? port.url : GATEWAY_INSIDE };
  const draft = consulting(run, { ...planOf(run, found), attachments: await readAttachments(options, found.folder.path) });
  const waitsFor = adapter.waitsFor?.(draft) ?? 'nothing';
  const unstopped = run.consulted?.hook === true ? UNSTOPPED[waitsFor] : undefined;
  const set = thinkingToSet(options, found.wanted, traffic);
  const plan =
    traffic.kind === 'direct'
      ? draft
      : { ...draft, gateway: gatewayRoute(reached, traffic, await mint(run, port, { traffic, ground }, set)) };
  const told = adapter.spawn(plan);
  const spec = set === undefined ? told : withSetThinking(told, set);
  const unhonoured = [
    ...lostOverrides(options, spec),
    ...(unstopped === undefined ? [] : [{ option: 'hooks.preToolUse', reason: unstopped }]),
  ];
  return {
    ...found,
    ...(set === undefined ? {} : { wanted: { ...found.wanted, notes: set.notes } }),
    port,
    plan,
    spec: { ...spec, unhonoured: [...spec.unhonoured, ...unhonoured] },
    waitsFor,
    command: detected.path ?? adapter.cliCommand,
    env: inRoom(ground, {
      base: deps.env,
      // An agent on our key must not find another one and prefer it.
      keep: traffic.kind === 'direct' || traffic.credential === 'caller' ? adapter.auth.envVars : [],
      adapter: spec.env,
      caller: options.env ?? {},
      runId,
      traceparent: port.traceparent?.(runId),
    }),
  };
}

async function detect(run: Preparing): Promise<Detected> {
  const { adapter, options, deps } = run;
  const detected = await deps.agents.detect(adapter, { ...deps.env, ...options.env });
  if (!detected.installed) {
    const why = detected.problem ?? `there is no command ${adapter.cliCommand}`;
    throw new AgentMuxError('AGENT_NOT_INSTALLED', `${adapter.displayName} is not installed: ${why}.`, {
      agent: adapter.agent,
      command: adapter.cliCommand,
    });
  }
  recheck(run, deps.agents, detected);
  return detected;
}

function planOf(run: Preparing, found: Found): SpawnPlan {
  const { wanted, detected } = found;
  return {
    options: run.options,
    ...(wanted.model === undefined ? {} : { model: wanted.model }),
    ...(wanted.modelId === undefined ? {} : { modelId: wanted.modelId }),
    thinking: wanted.thinking,
    ...(detected.version === undefined ? {} : { version: detected.version }),
    runFolder: found.folder.path,
    cwd: found.ground.cwd,
    ...(found.ground.room === undefined ? {} : { confined: true }),
    ...toolsOf(found.ground),
    answerable: run.answerable,
    interactive: run.interactive,
  };
}

function toolsOf({ policy }: Ground): Pick<SpawnPlan, 'tools'> {
  const { allowed_tools: allowed, disallowed_tools: denied } = policy;
  return allowed.length + denied.length === 0 ? {} : { tools: { allowed, denied } };
}

/** The room has the last word on an environment: the caller cannot change back what confines the agent. */
function inRoom({ room }: Ground, sources: EnvironmentSources): Record<string, string> {
  const env = childEnvironment(sources);
  return room === undefined ? env : room.environment(env);
}

/**
 * An agent that everything is allowed to asks nobody. Where somebody wants to be asked all the same, and the agent can ask in this run,
 * it is started as one that asks, and what nobody objects to is allowed.
 */
function consulting({ adapter, consulted }: Preparing, plan: SpawnPlan): SpawnPlan {
  if (consulted === undefined) return plan;
  const watched = consulted.hook ? { ...plan, watched: true } : plan;
  const waits = (one: SpawnPlan): WaitsFor => adapter.waitsFor?.(one) ?? 'nothing';
  if (plan.options.approvalMode !== 'yolo' || (!consulted.callback && waits(watched) === 'every-tool')) return watched;
  const asking: SpawnPlan = { ...watched, options: { ...plan.options, approvalMode: 'prompt' }, answerable: true };
  return waits({ ...asking, watched: false }) === 'nothing' ? watched : asking;
}

/** The key carries what the gateway sets on the wire. A run that asks for thinking opts into it on engines that have it in another form. */
async function mint(
  run: Preparing,
  port: GatewayPort,
  { traffic, ground }: { traffic: Extract<Traffic, { kind: 'gateway' }>; ground: Ground },
  set: SetThinking | undefined,
): Promise<string> {
  const { adapter, options, runId, deps } = run;
  const strict = options.compatibility === 'strict';
  return await port.mintRunKey({
    runId,
    agent: adapter.agent,
    engine: traffic.engine,
    model: traffic.forcedModel,
    emulate: strict ? [] : [...new Set([...adapter.traffic.emulate, ...(set === undefined ? [] : (['extended_thinking'] as const))])],
    traffic: carriedRows(adapter, options),
    compatibility: options.compatibility ?? 'best_effort',
    thinking: set?.wire ?? null,
    tools: toolsOf(ground).tools ?? null,
    raw: traffic.credential === 'caller',
    tags: runTags(options),
    expiresAt: deps.clock.now() + (options.timeout === undefined || options.timeout === 0 ? DAY_MS : options.timeout + DAY_MS / 24),
  });
}
