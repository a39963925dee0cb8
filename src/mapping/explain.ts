import { isJsonObject, type Json } from '../base/json.ts';
import type { Capability } from '../contract/capability.ts';
import { AbpError } from '../contract/errors.ts';
import type { CallEstimate, EmulationEntry, FidelityEntry } from '../contract/negotiation.ts';
import type { ReceiptNegotiation } from '../contract/receipts/parts.ts';
import type { CapabilityRequirements, Compatibility, Mode } from '../contract/support.ts';
import type { Dialect } from '../dialects/dialect.ts';
import { dialects, findDialect } from '../dialects/index.ts';
import { matchPath } from '../dialects/paths.ts';
import { pricesOf } from '../engines/engine.ts';
import { chooseEngine } from '../engines/index.ts';
import { Ledger } from '../ir/ledger.ts';
import type { IrRequest } from '../ir/request.ts';
import { countRequest } from '../ir/token-estimate.ts';
import { costOf } from '../models/cost.ts';
import { assertMet } from '../negotiation/negotiate.ts';
import { negotiationAccount } from '../negotiation/report.ts';
import { ownPlaces, withPlaces } from './destinations.ts';
import { fidelity } from './fidelity.ts';
import { type MappingInput, map } from './mapping.ts';
import { modelFacts } from './model.ts';
import { type Route, type RouteRow, route } from './route.ts';
import type { ModelPlace } from './scan/named-models.ts';
import { assertAllowed, type ToolRules } from './tools/tool-rules.ts';

/** A call as a vendor path would get it. */
export interface ExplainInput {
  /** The dialect; or `path` names it. */
  readonly from?: string | undefined;
  /** The vendor's path, where it says more than the dialect: the model and whether the answer is streamed. */
  readonly path?: string | undefined;
  /** The engine; without one the call goes where a vendor path would send it. */
  readonly to?: string | undefined;
  readonly model?: string | undefined;
  readonly stream?: boolean | undefined;
  readonly compatibility?: Compatibility | undefined;
  readonly emulate?: readonly Capability[] | undefined;
  readonly requirements?: CapabilityRequirements | undefined;
  /** Feature headers of the caller's vendor. */
  readonly features?: Readonly<Record<string, string>> | undefined;
  /** The operator's routes. */
  readonly table?: readonly RouteRow[] | undefined;
  /** Rules about tools that the call is held to. */
  readonly toolRules?: readonly ToolRules[] | undefined;
  /** Whether to say where each field goes, which takes a translation per field; yes unless told. */
  readonly places?: boolean | undefined;
  readonly request: Json;
}

/** The answer to `explain`: every field's fate and the request as it would be sent, with nobody called. */
export interface Explanation {
  readonly to: string;
  readonly mode: Mode;
  readonly negotiation: ReceiptNegotiation | null;
  readonly emulations: readonly EmulationEntry[];
  readonly fidelity: readonly FidelityEntry[];
  readonly upstream: { readonly method: string; readonly path: string; readonly body: Json } | null;
  readonly estimate: CallEstimate | null;
  readonly error?: AbpError;
}

/** A call whose dialect and destination are known. */
interface Explained extends ExplainInput {
  readonly source: Dialect;
  readonly address: MappingInput['address'];
  readonly chosen: Route;
  /** The tokens of the request would be counted, and nothing generated. */
  readonly counting: boolean;
}

const EXPLAINED: ReadonlySet<string> = new Set(['generate', 'count-tokens']);

/** An explanation, and where the call would go, so that rules about engines and models can be asked. */
export interface RoutedExplanation {
  readonly explanation: Explanation;
  readonly chosen: Route;
  /** Where the engine would read the model. */
  readonly place: ModelPlace;
}

export function explain(input: ExplainInput): Explanation {
  return explainRouted(input).explanation;
}

export function explainRouted(input: ExplainInput): RoutedExplanation {
  const { source, address, counting } = addressed(input);
  const asked = modelIn(input.request) ?? address.model ?? '';
  const found = route({ dialect: source, model: asked, headerEngine: input.to, table: input.table ?? [] });
  const model = input.model ?? found.model;
  if (model === '')
    throw new AbpError('invalid_request', 'No model is named: a request of this dialect has it in its address, so give it beside.');
  const chosen: Route = { ...found, model, ...(model === asked ? {} : { mode: 'mapped' }) };
  const call: Explained = { ...input, counting, source, address: { ...address, model: asked === '' ? model : asked }, chosen };
  const own = chosen.target.id === source.id;
  const place = modelIn(input.request) === undefined ? 'path' : own ? 'body' : 'written';
  return { explanation: own ? ownDialect(call) : translated(call), chosen, place };
}

function modelIn(request: Json): string | undefined {
  return isJsonObject(request) && typeof request.model === 'string' ? request.model : undefined;
}

/** The dialect and what the address says, from the path where there is one. */
function addressed({ from, path, to, model, stream }: ExplainInput): Pick<Explained, 'source' | 'address' | 'counting'> {
  const own = chooseEngine(to ?? '')?.engine.dialects;
  const match = path === undefined ? undefined : matchPath('POST', path.replace(/\?.*$/s, ''), own);
  if (path !== undefined && (match === undefined || !EXPLAINED.has(match.path.operation)))
    throw new AbpError('not_found', `${path} is no vendor path that generates or counts.`, { path });
  const counting = match?.path.operation === 'count-tokens';
  const source = match?.dialect ?? findDialect(from ?? '');
  if (source === undefined) {
    throw new AbpError('not_found', `There is no dialect "${from ?? ''}". Known are ${dialects.map(({ id }) => id).join(', ')}.`, {
      dialect: from ?? null,
    });
  }
  const said = { model: match?.model ?? model, stream: match?.path.stream ?? stream };
  return {
    source,
    counting,
    address: { ...(said.model === undefined ? {} : { model: said.model }), ...(said.stream === undefined ? {} : { stream: said.stream }) },
  };
}

function translated({ source, address, chosen, counting, ...input }: Explained): Explanation {
  const { engine, target, model } = chosen;
  const mapping = (body: Json) =>
    map({
      body,
      source,
      address,
      engine,
      target,
      model,
      compatibility: input.compatibility ?? 'best_effort',
      emulate: new Set([...(input.emulate ?? []), ...(chosen.row?.emulate ?? [])]),
      requirements: input.requirements ?? { required: [] },
      ...(input.features === undefined ? {} : { features: input.features }),
      ...(counting ? { operation: 'count-tokens' } : {}),
      unknownLeaves: 'refuse',
      toolRules: input.toolRules,
    });
  const { asked, upstream, error, negotiation, emulations, fidelity: entries } = mapping(input.request);
  return {
    to: nameOf(chosen),
    mode: 'mapped',
    negotiation,
    emulations,
    fidelity:
      upstream === undefined || input.places === false
        ? entries
        : withPlaces(input.request, entries, (body) => mapping(body).upstream, upstream),
    // An engine without an endpoint for counting is not called.
    upstream:
      upstream === undefined || (counting && target.lowerCount === undefined)
        ? null
        : { method: 'POST', path: upstream.path, body: upstream.body },
    estimate: estimateOf(asked, chosen),
    ...(error === undefined ? {} : { error }),
  };
}

/** Nothing is parsed; at most the model gets its other name. Requirements come from beside the body, as on a vendor path. */
function ownDialect({
  source,
  address,
  chosen,
  request,
  requirements = { required: [] },
  compatibility = 'best_effort',
  toolRules = [],
  counting,
}: Explained): Explanation {
  const { engine, model, mode } = chosen;
  const { manifest } = modelFacts(engine, model);
  const renamed = mode === 'mapped' && isJsonObject(request) && request.model !== undefined;
  const body = renamed ? { ...request, model } : request;
  const account = fidelity({
    ...{ body: request, source, target: source, engineName: engine.name },
    ...{ ledger: new Ledger(), lacks: new Set(), notes: [] },
  });
  const entries = ownPlaces(request, account.entries).map((entry) =>
    entry.path === 'model' && renamed ? { ...entry, fate: 'renamed' as const, code: 'model_renamed', note: `sent as ${model}` } : entry,
  );
  const error = refusalOf(() => {
    if (toolRules.length > 0 && !counting) assertAllowed(source.liftRequest(request, { ledger: new Ledger(), ...address }), toolRules);
    assertMet({ manifest, requirements, compatibility, backend: engine.name });
  });
  return {
    to: nameOf(chosen),
    mode,
    negotiation: requirements.required.length === 0 ? null : negotiationAccount(manifest, requirements, compatibility),
    emulations: [],
    fidelity: entries,
    upstream: error === undefined ? { method: 'POST', path: pathOf(source, model, address.stream === true, counting), body } : null,
    estimate: estimateOf(liftedOrNothing(source, request, address), chosen),
    ...(error === undefined ? {} : { error }),
  };
}

function refusalOf(run: () => void): AbpError | undefined {
  try {
    run();
    return undefined;
  } catch (error) {
    if (AbpError.is(error)) return error;
    throw error;
  }
}

/** A body that passes unread need not be one that we can read. */
function liftedOrNothing(source: Dialect, body: Json, address: MappingInput['address']): IrRequest | undefined {
  try {
    return source.liftRequest(body, { ledger: new Ledger(), ...address });
  } catch (error) {
    if (AbpError.is(error)) return undefined;
    throw error;
  }
}

function estimateOf(asked: IrRequest | undefined, { engine, model }: Route): CallEstimate | null {
  if (asked === undefined) return null;
  const inputTokens = countRequest(asked);
  const outputTokens = asked.maxTokens;
  const usage = { inputTokens, outputTokens: outputTokens ?? 0, cacheReadTokens: 0, cacheWriteTokens: 0, webSearchRequests: 0 };
  const prices = pricesOf(engine, model);
  const cost = outputTokens === undefined || prices === undefined ? undefined : costOf(usage, model, prices, new Date());
  return { input_tokens: inputTokens, max_output_tokens: outputTokens ?? null, max_cost_nano_usd: cost ?? null };
}

function nameOf({ engine, target }: Route): string {
  return engine.dialects.length === 1 ? engine.id : `${engine.id}:${target.id}`;
}

/** The vendor's own path, without our prefix for the dialect and with the model where the address names it. */
function pathOf({ paths, prefix = '' }: Dialect, model: string, stream: boolean, counting: boolean): string {
  const known = paths.filter(({ operation }) => operation === (counting ? 'count-tokens' : 'generate'));
  const path = (known.find((one) => one.stream === stream) ?? known[0])?.path ?? '/';
  return path.slice(prefix.length).replace('{model}', encodeURIComponent(model));
}
