import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { findCommand } from '../../base/find-command.ts';
import { removeTree } from '../../base/paths/remove-tree.ts';
import { parseAt } from '../../contract/border.ts';
import { AbpError } from '../../contract/errors.ts';
import { newRunId, parseRunId, type RunId } from '../../contract/run-id.ts';
import { AgentMuxError } from '../../contract/runs/run-error.ts';
import type { RunHooks } from '../../contract/runs/run-hooks.ts';
import type { RunOptions } from '../../contract/runs/run-options.ts';
import type { RunResult } from '../../contract/runs/run-result.ts';
import { CapabilityManifest } from '../../contract/support.ts';
import { WorkOrder } from '../../contract/work-orders/work-order.ts';
import { chooseEngine } from '../../engines/index.ts';
import { type CodingAgents, createCodingAgents } from '../../runtime/coding-agents/coding-agents.ts';
import { type GatewayPort, NOTHING_SPENT, RunAdmitted } from '../../runtime/gateway-port.ts';
import { defaultCapabilities, HOSTS, type Host } from '../../runtime/hosts.ts';
import { type GatedRun, passGatesInstalled } from '../../runtime/runs/gated-run.ts';
import { RunStarter } from '../../runtime/runs/run-starter.ts';
import { sidecarAdapter, sidecarKnowledge } from '../../runtime/sidecars/adapter.ts';
import { retell } from '../../runtime/sidecars/retell.ts';
import { optionsOf } from '../../runtime/work-orders/order-options.ts';
import { engineProgram } from '../../runtime/work-orders/programs.ts';
import { vendorOf } from '../../runtime/work-orders/vendor.ts';
import { type Result, type WorkOrder as SentOrder, type Sidecar, type SidecarRun, serveSidecar } from '../../sidecar/sidecar.ts';
import { openRunGateway } from '../run-plane/run-gateway.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** How long the agent of a host may take to end; the host itself is ended soon after. */
const GRACE_MS = 1200;

/** Serves one of the five hosts on the standard input and output. */
export async function serveHost(name: string, env: Environment = process.env): Promise<void> {
  await serveSidecar(await hostSidecar(name, env));
}

/** One of the five hosts: a coding agent behind the sidecar protocol, with the capabilities that the matrix says. */
async function hostSidecar(name: string, env: Environment): Promise<Sidecar> {
  const host = HOSTS.find(({ id }) => id === `host:${name}`);
  if (host === undefined) {
    const known = HOSTS.map(({ id }) => id.slice('host:'.length)).join(', ');
    throw new AbpError('not_found', `There is no host "${name}". Known are ${known}.`, { host: name });
  }
  const module = await adapterModule(name, env);
  return {
    id: name,
    mode: host.mode,
    capabilities: module.capabilities ?? host.manifest,
    extensions: ['tool_approval'],
    run: module.run ?? (async (order, run) => await worked(host, env, order, run)),
  };
}

interface AdapterModule {
  readonly capabilities?: CapabilityManifest;
  readonly run?: Sidecar['run'];
}

/** A host may get its work from a module of the user: `ABP_CLAUDE_ADAPTER_MODULE` names one that exports `run`, and `capabilities` if they differ. */
async function adapterModule(name: string, env: Environment): Promise<AdapterModule> {
  const file = env[`ABP_${name.toUpperCase()}_ADAPTER_MODULE`];
  if (file === undefined || file === '') return {};
  const loaded: Record<string, unknown> = await import(pathToFileURL(resolve(file)).href);
  const { capabilities = defaultCapabilities(), run } = loaded;
  if (typeof run !== 'function') throw new AbpError('invalid_request', `${file} exports no function run.`);
  // That it is a function is all that can be known of code of the user.
  return { capabilities: parseAt(CapabilityManifest, capabilities, `capabilities of ${file}`), run: run as Sidecar['run'] };
}

/** Where the model calls go, and what keeps the books. */
interface Place {
  readonly port: GatewayPort;
  readonly engine: string;
  readonly homePath: string;
  /** We are run by a backplane: it holds the policy, has staged the workspace, and knows our own events. */
  readonly inside: boolean;
  close(): Promise<void>;
}

async function placeOf(host: Host, order: SentOrder, env: Environment): Promise<Place> {
  const { ABP_GATEWAY_URL: url, ABP_GATEWAY_KEY: key, ABP_GATEWAY_ENGINE: engine } = env;
  if (url !== undefined && key !== undefined && engine !== undefined) {
    const homePath = mkdtempSync(join(tmpdir(), 'abp-host-'));
    return {
      port: borrowedPort({ url, key, engine }),
      engine,
      homePath,
      inside: true,
      close: async () => removeTree(homePath),
    };
  }
  const gateway = await openRunGateway({});
  const wanted = vendorOf(order).engine ?? env.ABP_HOST_ENGINE ?? host.engine;
  return { port: gateway.port, engine: wanted, homePath: gateway.home.path, inside: false, close: () => gateway.close() };
}

async function worked(host: Host, env: Environment, sent: SentOrder, run: SidecarRun): Promise<Result> {
  // The sender has settled the requirements of a foreign order, whose words (`any`) our schema does not take.
  const order = parseAt(WorkOrder, { ...sent, requirements: { required: [] } }, 'work order');
  const place = await placeOf(host, sent, env);
  try {
    const agents = createCodingAgents({ env });
    // A control plane may call its runs as it likes.
    const runId = parseRunId(run.id) ?? newRunId();
    const gated = await gatedRun(host, { order, run, runId, place, agents, env });
    const starter = new RunStarter({ agents, homePath: place.homePath, env });
    const handle = starter.start(gated.run, { gateway: async () => place.port, ...gated.ties }, runId);
    run.signal.addEventListener('abort', () => void handle.abort(), { once: true });
    for await (const event of handle) retell(event, run, { whole: place.inside });
    return resultOf(await handle.result(), gated.run);
  } finally {
    await place.close();
  }
}

interface Work {
  readonly order: WorkOrder;
  readonly run: SidecarRun;
  readonly runId: RunId;
  readonly place: Place;
  readonly agents: CodingAgents;
  readonly env: Environment;
}

/** The agent of the host where it is installed; else a bare model with our tools, which is told. */
async function gatedRun(
  host: Host,
  { order, run, runId, place, agents, env }: Work,
): Promise<{ run: GatedRun; ties: { agents?: ReturnType<typeof sidecarKnowledge> } }> {
  const adapter = agents.adapters.list().find(({ agent }) => agent === host.agent);
  const installed = adapter !== undefined && findCommand(adapter.cliCommand, env, process.platform) !== undefined;
  if (adapter !== undefined && installed && vendorOf(order).mode !== 'passthrough') {
    const options = insideOptions(optionsOf(order, { id: `adapter:${adapter.agent}`, kind: 'adapter' }, process.cwd()).options, place);
    const hooks = run.asksFirst ? { hooks: hooksOf(run) } : {};
    return { run: await passGatesInstalled(adapter, { ...options, ...hooks }, { agents: agents.knowledge, env }), ties: {} };
  }
  if (adapter !== undefined && !installed) {
    run.warn(`${adapter.displayName} is not installed: a bare model with our tools does the work, on ${place.engine}`);
  }
  const choice = chooseEngine(place.engine);
  if (choice === undefined) throw new AgentMuxError('CONFIG_ERROR', `There is no engine "${place.engine}".`);
  const program = engineProgram(choice.engine, place.engine);
  const inner = sidecarAdapter({ program, runId, order, compatibility: 'best_effort', engine: place.engine });
  const knowledge = sidecarKnowledge(program);
  const options = insideOptions(optionsOf(order, { id: `engine:${place.engine}`, kind: 'engine' }, process.cwd()).options, place);
  const hooks = run.asksFirst ? { hooks: hooksOf(run) } : {};
  return { run: await passGatesInstalled(inner, { ...options, ...hooks }, { agents: knowledge, env }), ties: { agents: knowledge } };
}

/** The control plane has made the workspace ready. Rules that it holds already are not asked for a second time. */
function insideOptions(options: RunOptions, { engine, inside }: Place): RunOptions {
  const { workspace: _staged, policy = {}, maxBudgetUsd: _budget, sandbox: _room, ...rest } = options;
  const { allowed_tools = [], disallowed_tools = [] } = policy;
  const held = inside ? { allowed_tools, disallowed_tools } : { ...policy, require_approval_for: [] };
  return { ...rest, engine, policy: held, approvalMode: 'yolo', gracePeriodMs: GRACE_MS };
}

/** The control plane decides on each tool before it runs. */
function hooksOf(run: SidecarRun): RunHooks {
  return {
    preToolUse: async ({ data: { toolName, toolCallId, input } }) => {
      const { approve, reason } = await run.approve({ name: toolName, input, ...(toolCallId !== undefined && { id: toolCallId }) });
      return approve ? undefined : { decision: 'deny', ...(reason !== null && { message: reason }) };
    },
  };
}

function resultOf(result: RunResult, { adapter }: GatedRun): Result {
  const { exitReason, error, tokenUsage } = result;
  if (exitReason !== 'completed' && exitReason !== 'aborted') {
    const failure = new Error(error?.message ?? `${adapter.displayName} ended as ${exitReason}`);
    throw Object.assign(failure, { errorCode: error?.code ?? exitReason });
  }
  const usage = { input_tokens: tokenUsage.input, output_tokens: tokenUsage.output, cache_read_tokens: tokenUsage.cached };
  return { outcome: exitReason === 'completed' ? 'complete' : 'partial', ...(tokenUsage.total > 0 && { usage }) };
}

/** The gateway of the run that started us: its key is ours too, and its books are kept there. */
function borrowedPort({ url, key, engine }: { readonly url: string; readonly key: string; readonly engine: string }): GatewayPort {
  const choice = chooseEngine(engine);
  const spoken = choice?.dialect === undefined ? (choice?.engine.dialects ?? []) : [choice.dialect];
  const nothing = async (): Promise<void> => undefined;
  return {
    url,
    enforcement: 'enforced',
    claim: nothing,
    offer: async ({ dialect, dialects }) => {
      const shared = [dialect, ...dialects].find((one) => spoken.includes(one));
      return {
        engine,
        credential: 'ours',
        speaksDialect: shared === dialect,
        needsModel: false,
        ...(shared !== undefined && { shared }),
      };
    },
    admit: async () => new RunAdmitted('server'),
    mintRunKey: async () => key,
    dropRunKey: nothing,
    spent: async () => NOTHING_SPENT,
    opened: nothing,
    closed: nothing,
  };
}
