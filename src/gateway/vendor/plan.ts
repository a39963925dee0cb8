import { sha256 } from '../../base/canonical-json.ts';
import type { Admitted, EngineDoor } from '../../calls/admission.ts';
import { Attempts } from '../../calls/attempts.ts';
import type { Call } from '../../calls/call.ts';
import { type Opening, openingOf } from '../../calls/opening.ts';
import { permission } from '../../calls/permission.ts';
import type { Recorder } from '../../calls/recorder.ts';
import { AbpError, unsupportedFeature } from '../../contract/errors.ts';
import type { AnswerChange } from '../../mapping/answer-filter.ts';
import { type ModelPlace, namedModels } from '../../mapping/named-models.ts';
import type { Asked } from '../../mapping/prepare.ts';
import type { Route } from '../../mapping/route.ts';
import { assertMet } from '../../negotiation/negotiate.ts';
import { negotiationAccount } from '../../negotiation/report.ts';
import { ownerOf } from '../auth/principal.ts';
import type { Gateway } from '../gateway.ts';
import { recordingFor } from '../recording.ts';
import type { VendorCall } from './call.ts';
import { chooseRoutes, isRewritten } from './choose.ts';
import { type CallOptions, callOptions } from './options.ts';
import { outgoing } from './outgoing.ts';
import { preparedFor, writeAside } from './preparation.ts';
import type { Read } from './read.ts';
import { requestBodies } from './recorded.ts';

/** What to send: the caller's bytes (with another model name at most), or a translation. */
export type Plan = Draft & { readonly admitted: Admitted };

type Draft =
  | {
      readonly kind: 'relay';
      readonly route: Route;
      readonly body: Buffer;
      /** The body is no longer in the encoding that the caller's headers name. */
      readonly decoded: boolean;
    }
  | {
      readonly kind: 'translate';
      readonly route: Route;
      readonly body: Buffer;
      readonly path: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly asked: Asked;
      readonly changes: readonly AnswerChange[];
    };

/** What to send first, and what else the route allows when that fails. */
export interface Planned {
  readonly plan: Plan;
  readonly attempts?: Attempts<Plan>;
}

/** Decides where the call goes and writes it down; a refusal is written down too, then thrown. */
export function planCall(gateway: Gateway, call: VendorCall, read: Read, recorder: Recorder): Planned {
  const options = callOptions(call.request.headers, call.principal);
  const facts = openingFacts(gateway, call, read, options);
  const planned = (chosen: Route): Plan => planRoute(gateway, { call, read, options, facts, recorder }, chosen);
  const [first, ...fallbacks] = recorded({ call, read, recorder }, facts, () => chooseRoutes(gateway, call, read, options));
  if (first === undefined) throw new AbpError('internal', 'a call has no route');
  const plan = planned(first);
  if (first.row === undefined) return { plan };
  const ready = (chosen: Route): Promise<unknown> | undefined => writeAside(gateway, { call, read, options }, chosen);
  return { plan, attempts: new Attempts([first, ...fallbacks], { plan: planned, ready }, recorder) };
}

interface Draftable {
  readonly call: VendorCall;
  readonly read: Read;
  readonly options: CallOptions;
  readonly facts: Opening;
  readonly recorder: Recorder;
}

function planRoute(gateway: Gateway, { call, read, options, facts: opening, recorder }: Draftable, chosen: Route): Plan {
  let facts = routeFacts(gateway, call, chosen, opening);
  const plan = recorded(
    { call, read, recorder },
    () => facts,
    () => {
      const wanted = callOf(gateway, call, read, chosen);
      // Asked again with everything else: a key that may not call this engine need not wait for a translation to hear so.
      const forbidden = permission(wanted);
      if (forbidden !== undefined) throw forbidden;
      const drafted =
        wanted.way === 'mapped' ? translation({ call, read, options, facts }, chosen) : relaying({ call, read, options, facts }, chosen);
      facts = drafted.facts;
      if (drafted.error !== undefined) throw drafted.error;
      const { draft } = drafted;
      const tools = draft.kind === 'translate' ? draft.asked.tools : undefined;
      return { ...draft, admitted: recorder.admit(gateway.admission, { ...wanted, tools }, doorOf(gateway, chosen)) };
    },
  );
  recorder.open(facts, () => requestBodies(call, read, plan));
  return plan;
}

/** Does the work; a refusal is a run too, so it is written down before it is thrown. */
function recorded<T>(
  { call, read, recorder }: Pick<Draftable, 'call' | 'read' | 'recorder'>,
  facts: Opening | (() => Opening),
  work: () => T,
): T {
  try {
    return work();
  } catch (error) {
    if (AbpError.is(error)) {
      recorder.open(typeof facts === 'function' ? facts() : facts, () => requestBodies(call, read));
      recorder.refused(error);
    }
    throw error;
  }
}

/** The call as its checks see it. Its tools are known once it is translated; a passed-through body is the engine's to read. */
function callOf({ config: { policy } }: Gateway, call: VendorCall, { text, scan }: Read, chosen: Route): Omit<Call, 'runId'> {
  const { engine, model, mode } = chosen;
  const owner = ownerOf(call.principal);
  const asks = owner.scopes?.models !== undefined || policy.deny_models.length > 0;
  return {
    way: isRewritten(call, chosen) ? 'mapped' : 'relay',
    owner,
    ...(asks ? { moreModels: namedModels(text, scan, modelPlace(call, chosen)) } : {}),
    engine: engine.id,
    model: model === '' ? null : model,
    dialect: call.match.dialect.id,
    mode,
  };
}

/** Where the engine finds the model: a path keeps it, a translation writes it anew, otherwise it stands in the caller's body. */
function modelPlace(call: VendorCall, chosen: Route): ModelPlace {
  if (call.match.model !== undefined) return 'path';
  return isRewritten(call, chosen) && chosen.model !== '' ? 'written' : 'body';
}

function doorOf(gateway: Gateway, { engine }: Route): EngineDoor {
  const deployment = gateway.deployments.get(engine.id);
  if (deployment === undefined) throw new AbpError('internal', `engine ${engine.id} has no deployment`);
  return deployment.door;
}

type Drafted =
  | { readonly facts: Opening; readonly draft: Draft; readonly error?: undefined }
  | { readonly facts: Opening; readonly error: AbpError };

/** What goes out in the caller's own dialect. Requirements come from headers alone. */
function relaying({ call, read, options, facts }: Omit<Draftable, 'recorder'>, chosen: Route): Drafted {
  const { requirements, compatibility } = options;
  const { manifest, name } = chosen.engine;
  const { body, fidelity } = outgoing(call, read, chosen, options);
  const known: Opening = {
    ...facts,
    negotiation: requirements.required.length === 0 ? null : negotiationAccount(manifest, requirements),
    fidelity,
    upstreamRequest: body === read.body ? facts.request : { sha256: sha256(body), bytes: body.length },
  };
  try {
    assertMet({ manifest, requirements, compatibility, backend: name });
  } catch (error) {
    if (AbpError.is(error)) return { facts: known, error };
    throw error;
  }
  return { facts: known, draft: { kind: 'relay', route: chosen, body, decoded: body !== read.body && read.text !== read.body } };
}

function translation({ call, read, options, facts: opening }: Omit<Draftable, 'recorder'>, chosen: Route): Drafted {
  if (call.match.path.operation === 'embeddings') {
    const { dialect } = call.match;
    const parties = { dialectId: dialect.id, dialectStyle: dialect.style, engineId: chosen.engine.id, engineName: chosen.engine.name };
    return { facts: opening, error: unsupportedFeature('embeddings', 'Embeddings in this form', parties) };
  }
  const { upstream, error, ...prepared } = preparedFor(call, read, chosen, options);
  const facts: Opening = {
    ...opening,
    negotiation: prepared.negotiation,
    emulations: prepared.emulations,
    fidelity: prepared.fidelity,
    upstreamRequest: upstream === undefined ? null : { sha256: upstream.sha256, bytes: upstream.body.length },
  };
  if (error !== undefined) return { facts, error };
  const { asked, changes } = prepared;
  if (asked === undefined || upstream === undefined) throw new AbpError('internal', 'a mapping without an error has no request');
  const { body, path, headers } = upstream;
  return { facts, draft: { kind: 'translate', route: chosen, body, path, headers, asked, changes } };
}

function routeFacts(gateway: Gateway, { match, target, principal }: VendorCall, chosen: Route, opening: Opening): Opening {
  const { id } = chosen.engine;
  return {
    ...opening,
    engine: id,
    backend: `engine:${id}`,
    task: `${match.path.method} ${target.path} → ${id}`,
    upstreamModel: chosen.model === '' ? null : chosen.model,
    mode: chosen.mode,
    recording: recordingFor(gateway.config, principal, chosen.row?.recording),
  };
}

function openingFacts(gateway: Gateway, call: VendorCall, read: Read, options: CallOptions): Opening {
  const { principal, match, target } = call;
  return openingOf(ownerOf(principal), {
    plane: 'gateway',
    task: `${match.path.method} ${target.path}`,
    dialect: match.dialect.id,
    engine: null,
    backend: 'gateway',
    requestedModel: match.model ?? read.scan.model ?? null,
    compatibility: options.compatibility,
    request: { sha256: read.sha256 ?? sha256(read.body), bytes: read.body.length },
    recording: recordingFor(gateway.config, principal),
  });
}
