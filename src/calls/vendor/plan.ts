import { sha256 } from '../../base/canonical-json.ts';
import { AbpError, unsupportedFeature } from '../../contract/errors.ts';
import type { FidelityEntry } from '../../contract/negotiation.ts';
import { modelFacts } from '../../mapping/model.ts';
import type { Route } from '../../mapping/route.ts';
import { type ModelPlace, namedModels } from '../../mapping/scan/named-models.ts';
import { requestBound } from '../../mapping/scan/request-bound.ts';
import { spliceModel } from '../../mapping/scan/scan.ts';
import { deniedTools } from '../../mapping/tools/tool-rules.ts';
import { assertMet } from '../../negotiation/negotiate.ts';
import { negotiationAccount } from '../../negotiation/report.ts';
import { Attempts } from '../attempts.ts';
import { type Affinity, affinityOf } from '../balancing/affinity.ts';
import { Placement } from '../balancing/placement.ts';
import type { Call } from '../call.ts';
import type { CallContext } from '../context.ts';
import { type Opening, openingOf } from '../opening.ts';
import { permission } from '../permission.ts';
import type { Recorder } from '../recorder.ts';
import { type CachePlace, cachePlace } from '../response-cache/cacheable.ts';
import { BodyBound } from '../token-bound.ts';
import { chooseRoutes, isRewritten } from './choose.ts';
import { assertPassable, patchedFor, preparedFor, writeAside } from './preparation.ts';
import { recordingOf, requestBodies } from './recorded.ts';
import type { Draft, Plan, Read, VendorCall } from './vendor-call.ts';

/** The first request to send, and the others that the route allows when it fails. */
export interface Planned {
  readonly plan: Plan;
  readonly attempts?: Attempts<Plan>;
  /** Where its answer is kept; `never` where the route or the key keeps answers, and this one must not be. */
  readonly kept?: CachePlace | 'never';
}

/** A call that is being planned, and what the opening facts of all its tries say alike. */
interface Planning {
  readonly call: VendorCall;
  readonly read: Read;
  readonly recorder: Recorder;
  readonly asked: Pick<Opening, 'requestedModel' | 'compatibility' | 'request'>;
  readonly placement: Placement;
  readonly mayWait?: boolean;
}

/** Who writes the call down, and whether it may wait for room under a limit. */
interface Planner {
  readonly recorder: Recorder;
  readonly mayWait: boolean;
}

/** Decides where the call goes and writes it down; a refusal is written down too, then thrown. Throws `MustWait` where it has to wait. */
export function planCall(context: CallContext, call: VendorCall, read: Read, { recorder, mayWait }: Planner): Planned {
  const asked = {
    requestedModel: call.match.model ?? read.scan.model ?? null,
    compatibility: call.options.compatibility,
    request: { sha256: read.sha256 ?? sha256(read.body), bytes: read.body.length },
  };
  const { options, owner } = call;
  const affinity = (): Affinity | undefined => affinityOf({ owner, session: options.session, text: read.text, scan: read.scan });
  const placement = new Placement(context.deployments, { named: options.deployment, affinity });
  const one: Planning = { call, read, recorder, asked, placement };
  const [first, ...fallbacks] = chosenRoutes(context, one);
  if (first === undefined) throw new AbpError('internal', 'a call has no route');
  const plan = planRoute(context, { ...one, mayWait }, first, (error, opening) => refused(one, error, opening));
  const kept = (first.row?.cache ?? options.cache) === undefined ? {} : { kept: cachePlace(call, read, first) ?? ('never' as const) };
  if (first.row === undefined && !placement.hasOther(first, false)) return { plan, ...kept };
  const planner = {
    placement,
    plan: (route: Route): Plan => planRoute(context, one, route),
    ready: (route: Route): Promise<unknown> | undefined => writeAside(context, call, read, route),
  };
  return { plan, ...kept, attempts: new Attempts([first, ...fallbacks], planner, recorder) };
}

function chosenRoutes({ routes }: CallContext, one: Planning): Route[] {
  const { call, read } = one;
  try {
    return chooseRoutes(routes, call, read.scan);
  } catch (error) {
    throw refused(one, error, () => openingOf(callOf(call), { ...one.asked, task: taskOf(call), recording: recordingOf(call) }));
  }
}

/** Plans a try and writes it down; `refuse` does so for a call that may not even be tried once. */
function planRoute(
  context: CallContext,
  one: Planning,
  route: Route,
  refuse: (error: unknown, opening: () => Opening) => unknown = (error) => error,
): Plan {
  const { call, read, recorder } = one;
  const bound = new BodyBound(read.text, { ...requestBound(read.text, read.scan), hourCache: read.scan.longCache });
  const wanted = { ...callOf(call, route), ...moreModels(context, one, route), bound, mayWait: one.mayWait };
  let account: Account = {};
  const opening = (): Opening =>
    openingOf(wanted, {
      ...one.asked,
      ...account,
      task: `${taskOf(call)} → ${route.engine.id}`,
      recording: recordingOf(call, route.row?.recording),
    });
  let plan: Plan;
  try {
    // Asked again with everything else: a key that may not call this engine need not wait for a translation to hear so.
    const forbidden = permission(wanted);
    if (forbidden !== undefined) throw forbidden;
    const drafted = wanted.way === 'mapped' ? translation(call, read, route) : relaying(one, route);
    account = drafted.account;
    if (drafted.error !== undefined) throw drafted.error;
    const { draft } = drafted;
    const seen = draft.kind === 'translate' ? { ...wanted, tools: draft.asked.tools } : wanted;
    const deployment = one.placement.choose(route);
    plan = { ...draft, deployment, admitted: recorder.admit(context.admission, seen, deployment.door) };
  } catch (error) {
    throw refuse(error, opening);
  } finally {
    bound.letGo();
  }
  recorder.open(opening(), () => requestBodies(call, read, plan));
  return plan;
}

/** A refusal is a run too: it is written down before it is thrown. */
function refused({ call, read, recorder }: Planning, error: unknown, opening: () => Opening): unknown {
  if (!AbpError.is(error)) return error;
  recorder.open(opening(), () => requestBodies(call, read));
  recorder.refused(error);
  return error;
}

/** The call as its checks see it. Its tools are known once it is translated; a passed-through body is the engine's to read. */
function callOf(call: VendorCall, route?: Route): Call {
  return {
    runId: call.runId,
    way: route !== undefined && isRewritten(call, route) ? 'mapped' : 'relay',
    owner: call.owner,
    engine: route?.engine.id ?? null,
    model: route === undefined || route.model === '' ? null : route.model,
    dialect: call.match.dialect.id,
    mode: route?.mode ?? null,
  };
}

/** The models that the body names beside the one that is called, where some rule asks for them. */
function moreModels({ denied }: CallContext, { call, read: { text, scan } }: Planning, route: Route): Pick<Call, 'moreModels'> {
  const asks = denied.models.length > 0 || call.owner.scopes?.models !== undefined;
  return asks ? { moreModels: namedModels(text, scan, modelPlace(call, route)) } : {};
}

/** Where the engine finds the model: a path keeps it, a translation writes it anew, otherwise it stands in the caller's body. */
function modelPlace(call: VendorCall, route: Route): ModelPlace {
  if (call.match.model !== undefined) return 'path';
  return isRewritten(call, route) && route.model !== '' ? 'written' : 'body';
}

function taskOf({ match, target }: VendorCall): string {
  return `${match.path.method} ${target.path}`;
}

/** The receipt's facts about the translation of the request. */
type Account = Partial<Pick<Opening, 'negotiation' | 'emulations' | 'fidelity' | 'upstreamRequest' | 'rules'>>;

type Drafted =
  | { readonly account: Account; readonly draft: Draft; readonly error?: undefined }
  | { readonly account: Account; readonly error: AbpError };

/** The rules that took something out of the request. */
function rulesIn(fidelity: readonly FidelityEntry[]): Pick<Account, 'rules'> {
  const details = deniedTools(fidelity).map(({ tool, rule }) => [`${tool} was taken out of the offer`, rule] as const);
  // A tool may have many leaves in the account.
  const rules = [...new Map(details)].map(([detail, rule]) => ({ rule, by: 'wire', detail }) as const);
  return rules.length === 0 ? {} : { rules };
}

/** Plans a request that goes out in the caller's own dialect. Its requirements come from headers alone. */
function relaying({ call, read, asked }: Planning, route: Route): Drafted {
  const { requirements, compatibility } = call.options;
  const { name } = route.engine;
  const { manifest } = requirements.required.length === 0 ? route.engine : modelFacts(route.engine, route.model);
  assertPassable(call, read, route);
  const { body, fidelity, sha256: digest } = outgoing(call, read, route);
  const account: Account = {
    ...rulesIn(fidelity),
    negotiation: requirements.required.length === 0 ? null : negotiationAccount(manifest, requirements, compatibility),
    fidelity,
    upstreamRequest: body === read.body ? asked.request : { sha256: digest ?? sha256(body), bytes: body.length },
  };
  try {
    assertMet({ manifest, requirements, compatibility, backend: name });
  } catch (error) {
    if (AbpError.is(error)) return { account, error };
    throw error;
  }
  return { account, draft: { kind: 'relay', route, body, decoded: body !== read.body && read.text !== read.body } };
}

function translation(call: VendorCall, read: Read, route: Route): Drafted {
  const { dialect, path: vendorPath } = call.match;
  if (vendorPath.operation === 'embeddings') {
    const parties = { dialectId: dialect.id, dialectStyle: dialect.style, engineId: route.engine.id, engineName: route.engine.name };
    return { account: {}, error: unsupportedFeature('embeddings', 'Embeddings in this form', parties) };
  }
  const { upstream, error, negotiation, emulations, fidelity, asked, changes } = preparedFor(call, read, route);
  const account: Account = {
    ...rulesIn(fidelity),
    negotiation,
    emulations,
    fidelity,
    upstreamRequest: upstream === undefined ? null : { sha256: upstream.sha256, bytes: upstream.body.length },
  };
  if (error !== undefined) return { account, error };
  if (asked === undefined || upstream === undefined) throw new AbpError('internal', 'a mapping without an error has no request');
  const { body, path, headers } = upstream;
  return { account, draft: { kind: 'translate', route, body, path, headers, asked, changes } };
}

/** The request to an engine that speaks the caller's dialect, and which parts of it we have changed. */
interface Outgoing {
  readonly body: Buffer;
  /** SHA-256 of the body, where it is known already. */
  readonly sha256?: string;
  readonly fidelity: readonly FidelityEntry[];
}

/** The caller's bytes; or its text with another model name spliced in; or its text with the thinking that a run decided. */
function outgoing(call: VendorCall, read: Read, chosen: Route): Outgoing {
  if (chosen.mode === 'passthrough') return { body: read.body, fidelity: [] };
  const asked = call.match.model ?? read.scan.model;
  const renamed: FidelityEntry[] =
    asked === chosen.model ? [] : [{ path: 'model', fate: 'renamed', code: 'model_renamed', note: `sent as ${chosen.model}` }];
  const patched = patchedFor(call, read, chosen);
  if (patched !== undefined) return { body: patched.body, fidelity: [...renamed, ...patched.fidelity] };
  const ready = read.aside?.renamed.get(chosen.model);
  if (ready !== undefined) return { ...ready, fidelity: renamed };
  const span = read.scan.modelSpan;
  return { body: span === undefined ? read.body : spliceModel(read.text, span, chosen.model), fidelity: renamed };
}
