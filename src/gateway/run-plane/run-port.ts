import { randomToken } from '../../base/ids.ts';
import { jsonOf } from '../../base/json.ts';
import type { Admitted } from '../../calls/admission.ts';
import { type CallOwner, shareOfOwner } from '../../calls/call.ts';
import { denialOf } from '../../calls/denied-engines.ts';
import { openingOf } from '../../calls/opening.ts';
import { RunTerms } from '../../calls/scopes.ts';
import { AbpError } from '../../contract/errors.ts';
import type { RunId } from '../../contract/run-id.ts';
import { chooseEngine, type EngineChoice, ownEngine, unknownEngine } from '../../engines/index.ts';
import {
  type EngineOffer,
  type EngineWish,
  type GatewayPort,
  type RunAdmissionAsk,
  RunAdmitted,
  type RunClosing,
  type RunKeyRequest,
} from '../../runtime/gateway-port.ts';
import { createKey, deleteExpiredRunKeys, revokeRunKeys } from '../../store/keys.ts';
import { forgetCancel, isCancelRequested } from '../../store/runs/run-cancels.ts';
import { hashSecret } from '../auth/key-ring.ts';
import type { Gateway } from '../gateway.ts';
import { assertMayTag } from '../vendor/tags.ts';
import { claimRun, releaseRun } from './claimed-runs.ts';
import { contextWindowOf } from './context-window.ts';
import { takeOrders } from './run-orders.ts';
import { engineWord } from './run-refusals.ts';
import { spentOf } from './run-spend.ts';
import { toolCallsInto } from './traced-tools.ts';

const MIB = 1024 * 1024;
const SHOWN = 12;
/** Dead run keys are kept this long, so that receipts of the last day can be matched with them. */
const KEPT_MS = 24 * 3600 * 1000;

/** The processes of this home, which hold its token. */
const OWN: CallOwner = { keyId: null, parent: null, tags: [] };

/** This gateway, as runs of coding agents see it; `owner` asked for the run. */
export function runPort(gateway: Gateway, owner: CallOwner = OWN): GatewayPort {
  const { keyId } = owner;
  return {
    get url() {
      return gateway.ownUrl;
    },
    enforcement: gateway.config.auth.local ? 'advisory' : 'enforced',
    policy: gateway.config.policy,
    disk: { caller: shareOfOwner(owner), limitBytes: gateway.config.limits.stages_mb * MIB },
    takeConnection: (run, socket) => {
      if (gateway.takeConnection === undefined) socket.destroy();
      else gateway.takeConnection(run, socket);
    },
    claim: (run) => claimRun(gateway, run),
    offer: async (wish) => await withWindow(gateway, wish, offer(gateway, wish)),
    admit: async (ask) => new RunAdmitted(admit(gateway, owner, ask)),
    mintRunKey: (request) => mint(gateway, owner, request),
    dropRunKey: async (run) => {
      const now = Date.now();
      await revokeRunKeys(gateway.store, [run], now);
      await deleteExpiredRunKeys(gateway.store, now - KEPT_MS);
      gateway.keys.forget();
    },
    ...tracedRuns(gateway, owner),
    cancelled: async (run) => {
      await takeOrders(gateway, run);
      return await isCancelRequested(gateway.store, run);
    },
    engineWord: (run) => engineWord(gateway, run),
    spent: (run, state) => spentOf(gateway, run, state),
    opened: async ({ untilEndOf: _owner, ...opening }) => {
      gateway.calls.live.begin(opening.run, opening.at, keyId);
      const { run, at, dialect, engine, upstreamModel: model, ...told } = opening;
      const call = { way: 'run', owner, engine, model, dialect, mode: null } as const;
      gateway.calls.traces?.adopt(run, owner.traceparent);
      // A run of a coding agent has no bytes of its own, only those of its calls.
      gateway.keeper.append({ ...openingOf(call, { ...told, recording: 'digest' }), fact: 'open', run, at });
    },
    closed: async (closing) => {
      gateway.keeper.append({ ...CLOSING, ...closing });
      gateway.calls.live.end(closing.run);
      await forgetCancel(gateway.store, closing.run);
      releaseRun(gateway, closing.run);
      settle(gateway, closing);
    },
  };
}

/** The span of a run is known before the run begins, so that its agent can be told. */
function tracedRuns({ calls: { traces } }: Gateway, owner: CallOwner): Pick<GatewayPort, 'traceparent' | 'heard'> {
  if (traces === undefined) return {};
  return {
    traceparent: (run) => {
      traces.adopt(run, owner.traceparent);
      return traces.placed(run, owner.parent);
    },
    heard: toolCallsInto(traces),
  };
}

/** The members that are the same at the end of every run of a coding agent. */
const CLOSING = {
  fact: 'close',
  response: null,
  attempts: [],
  dispatchedMs: null,
  firstByteMs: null,
  prices: null,
  replayable: false,
} as const;

function admit(
  { calls: { admission }, runPlane: { admitted: running } }: Gateway,
  owner: CallOwner,
  { tags, ...ask }: RunAdmissionAsk,
): Admitted {
  const known = running.get(ask.runId);
  if (known !== undefined) return known;
  assertMayTag(owner, tags);
  const admitted = admission.admit({ ...ask, way: 'run', mode: null, owner: { ...owner, tags: [...owner.tags, ...tags] } }, null);
  running.set(ask.runId, admitted);
  return admitted;
}

function settle({ runPlane: { admitted: running } }: Gateway, { run, status, usage, upstreamModel, cost }: RunClosing): void {
  const admitted = running.get(run);
  running.delete(run);
  admitted?.settle({ status, usage, upstreamModel, nanoUsd: cost?.nano_usd ?? null });
}

/** A run that was let in is not started after all. */
export function dropAdmission({ runPlane: { admitted: running } }: Gateway, run: RunId): void {
  const admitted = running.get(run);
  running.delete(run);
  admitted?.settle({ status: 'dropped', usage: null, upstreamModel: null, nanoUsd: null });
}

/** Says how many tokens the model takes, where the agent cannot know. */
async function withWindow(gateway: Gateway, { model }: EngineWish, offered: EngineOffer): Promise<EngineOffer> {
  if ('missing' in offered || !offered.needsModel || model === undefined) return offered;
  const { denied, deployments } = gateway.calls;
  // The run will be refused; an engine that is denied to everybody is asked for nothing, its list of models included.
  if (denialOf(denied, { engine: offered.engine, model }) !== undefined) return offered;
  const deployment = deployments.get(offered.engine.split(':')[0] ?? '')?.first;
  const contextWindow = deployment === undefined ? undefined : await contextWindowOf(deployment, model);
  return contextWindow === undefined ? offered : { ...offered, contextWindow };
}

function offer(gateway: Gateway, { engine: name, dialect, dialects }: EngineWish): EngineOffer {
  const own = ownEngine(dialect);
  const choice: EngineChoice | undefined = name === undefined ? own && { engine: own } : chooseEngine(name);
  if (choice === undefined) throw unknownEngine(name ?? dialect);
  const { engine } = choice;
  const id = choice.dialect === undefined ? engine.id : `${engine.id}:${choice.dialect}`;
  const deployment = gateway.calls.deployments.get(engine.id)?.first;
  if (deployment === undefined) throw new AbpError('internal', `engine ${engine.id} has no deployment`);
  const inside = engine.transport !== undefined;
  if (deployment.origin === '' && !inside) return { engine: id, missing: `${engine.name} has no address here` };
  const spoken = choice.dialect === undefined ? engine.dialects : [choice.dialect];
  const shared = [dialect, ...dialects].find((one) => spoken.includes(one));
  return {
    engine: id,
    ...(engine.base !== undefined && { base: engine.base }),
    ...(shared !== undefined && { shared }),
    credential: deployment.auth === 'caller' ? 'caller' : 'ours',
    speaksDialect: shared === dialect,
    needsModel: !inside && engine.id !== own?.id,
  };
}

async function mint(gateway: Gateway, owner: CallOwner, request: RunKeyRequest): Promise<string> {
  const secret = `abp_${randomToken(32)}`;
  const terms = RunTerms.parse({
    agent: request.agent,
    engine: request.engine,
    model: request.model,
    emulate: request.emulate,
    traffic: request.traffic,
    compatibility: request.compatibility,
    thinking: wireThinking(request),
    owner: owner.keyId,
    tools: request.tools,
  });
  const [engineId = request.engine] = request.engine.split(':');
  await createKey(gateway.store, {
    kind: 'run',
    name: `run of ${request.agent}`,
    hash: hashSecret(secret),
    prefix: secret.slice(0, SHOWN),
    scopes: {
      planes: ['gateway'],
      engines: [engineId],
      raw: request.raw,
      // A run reaches no model that the caller who asked for it may not call.
      ...(owner.scopes?.models === undefined ? {} : { models: owner.scopes.models }),
      // Nor does its agent bring tags that the caller may not.
      ...(owner.scopes?.tags === undefined ? {} : { tags: owner.scopes.tags }),
      run: jsonOf(terms), // parsed above from JSON values
    },
    // The tags of the caller stay: budgets go by them.
    tags: [...new Set([...owner.tags, ...request.tags])],
    createdAt: Date.now(),
    expiresAt: request.expiresAt,
    runId: request.runId,
  });
  return secret;
}

function wireThinking({ thinking }: RunKeyRequest): object | null {
  if (thinking === null) return null;
  const { effort, budgetTokens } = thinking;
  return { ...(effort === undefined ? {} : { effort }), ...(budgetTokens === undefined ? {} : { budget_tokens: budgetTokens }) };
}
