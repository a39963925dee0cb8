import type { Adapter, GatewayRoute } from '../../adapters/adapter.ts';
import { AbpError } from '../../contract/errors.ts';
import type { RunId } from '../../contract/run-id.ts';
import { ValidationError } from '../../contract/runs/run-error.ts';
import { type RunOptions, runTags } from '../../contract/runs/run-options.ts';
import type { TrafficRow } from '../../contract/runs/run-traffic.ts';
import { chooseEngine, engineOfModel, findEngine, ownEngine } from '../../engines/index.ts';
import type { EngineOffer, GatewayPort, RunAdmissionAsk } from '../gateway-port.ts';
import type { Wanted } from './deps.ts';

/** Where the model traffic of an agent goes. */
export type Traffic =
  | {
      readonly kind: 'gateway';
      readonly engine: string;
      readonly credential: 'ours' | 'caller';
      /** The dialect that the agent is told to speak; absent where only its own dialect is left, which is then mapped. */
      readonly dialect?: string;
      /** Sent with every call instead of what the agent writes. */
      readonly forcedModel: string | null;
      readonly contextWindow?: number;
    }
  /** `needsNone`: it does without an engine of ours also where nothing else can be reached. */
  | { readonly kind: 'direct'; readonly reason: string; readonly needsNone?: true };

/**
 * The engine's key if there is one; else the agent's own login, where it may be forwarded; else the agent is left alone, and the reason
 * is said. A caller who names an engine gets that engine or an error.
 */
export async function chooseTraffic(adapter: Adapter, options: RunOptions, port: GatewayPort, wanted: Wanted): Promise<Traffic> {
  if (options.direct === true) return { kind: 'direct', reason: 'the caller asked for it' };
  const { dialect, dialects, unserved, needsNone } = adapter.traffic;
  if (unserved !== undefined) return { ...leftAlone(options, options.engine, unserved), ...(needsNone && { needsNone }) };
  const model = vendorModel(adapter, options, wanted);
  const offer = await port.offer({ engine: options.engine ?? model.engine, model: model.name ?? options.model, dialect, dialects });
  const obstacle = obstacleOf(adapter, offer);
  if (obstacle !== undefined) return leftAlone(options, offer.engine, obstacle);
  if ('missing' in offer) throw new AbpError('internal', 'an offer without an engine passed');
  if (offer.needsModel && options.model === undefined) {
    throw new ValidationError([
      {
        field: 'model',
        message: `is required: ${offer.engine} does not know the models that ${adapter.displayName} asks for by itself; name one of its own (--model)`,
      },
    ]);
  }
  const { engine, credential, shared, contextWindow } = offer;
  const forcedModel = forcedName(options, wanted, isOf(engine, model.engine) ? model.name : undefined, offer.needsModel);
  return {
    kind: 'gateway',
    engine,
    credential,
    forcedModel,
    ...(shared !== undefined && { dialect: shared }),
    ...(contextWindow !== undefined && { contextWindow }),
  };
}

/** The model that goes out with every call; null where the agent itself writes a name that the engine knows. */
function forcedName({ model }: RunOptions, wanted: Wanted, vendors: string | undefined, needsModel: boolean): string | null {
  if (needsModel) return vendors ?? model ?? null;
  // The agent writes the vendor's name of models that are listed; of others it has only what the caller said.
  return wanted.model === undefined && vendors !== undefined && vendors !== model ? vendors : null;
}

/** A model as its vendor names it, and the engine of that vendor. */
interface VendorModel {
  readonly engine?: string;
  readonly name?: string;
}

/**
 * Agents that reach every vendor write `anthropic/claude-sonnet-4-5`. Such a name says where the model is; it is not one that the
 * vendor knows.
 */
function vendorModel({ traffic }: Adapter, { model }: RunOptions, wanted: Wanted): VendorModel {
  if (model === undefined || traffic.dialects.length < 2) return {};
  const [prefix = '', ...rest] = model.split('/');
  const provider = wanted.model?.provider ?? (rest.length > 0 ? prefix : undefined);
  const engine = provider === undefined ? engineOfModel(model) : findEngine(provider);
  if (engine === undefined) return {};
  const bare = findEngine(prefix)?.id === engine.id && rest.length > 0 ? rest.join('/') : model;
  return { engine: engine.id, name: wanted.model?.providerModelId ?? bare };
}

/** The engine that the calls of an agent go to where the caller names none: that of the model's vendor, or of the agent's own. */
export function servingEngine(adapter: Adapter, options: RunOptions, wanted: Wanted): string | undefined {
  return vendorModel(adapter, options, wanted).engine ?? ownEngine(adapter.traffic.dialect)?.id;
}

function isOf(engine: string, vendor: string | undefined): boolean {
  return vendor !== undefined && engine.split(':')[0] === vendor;
}

/** Without an engine in mind the agent runs as it is; with one, that would not be what was asked for. */
function leftAlone({ engine }: RunOptions, named: string | undefined, reason: string): Extract<Traffic, { kind: 'direct' }> {
  if (engine === undefined) return { kind: 'direct', reason };
  throw new AbpError('E007', reason, { backend_id: `engine:${named}`, reason });
}

function obstacleOf(adapter: Adapter, offer: EngineOffer): string | undefined {
  if ('missing' in offer) return offer.missing;
  if (offer.credential === 'ours' || (adapter.auth.forwardsLogin && offer.speaksDialect)) return undefined;
  return `${offer.engine} has no key here, and the login of ${adapter.displayName} cannot be forwarded to it`;
}

/** A run as the checks see it. Without `traffic`, which is found out later, it is taken to go where the caller wants it. */
export function admissionAsk(
  runId: RunId,
  { agent, traffic: { dialect } }: Adapter,
  options: RunOptions,
  traffic?: Traffic,
): RunAdmissionAsk {
  const named = traffic?.kind === 'gateway' ? traffic.engine : options.engine;
  const engine = named === undefined ? ownEngine(dialect) : chooseEngine(named)?.engine;
  const direct = traffic === undefined ? options.direct === true : traffic.kind === 'direct';
  return { runId, agent, dialect, engine: engine?.id ?? null, model: options.model ?? null, direct, tags: runTags(options) };
}

/** How the agent is told to reach the gateway. An agent with a login of its own keeps it; our key then stands in the address. */
export function gatewayRoute(port: Pick<GatewayPort, 'url'>, traffic: Extract<Traffic, { kind: 'gateway' }>, key: string): GatewayRoute {
  const { engine, dialect, contextWindow } = traffic;
  const route = { engine, key, ...(dialect !== undefined && { dialect }), ...(contextWindow !== undefined && { contextWindow }) };
  if (traffic.credential === 'ours') return { ...route, origin: port.url };
  return { ...route, origin: `${port.url}/k/${encodeURIComponent(key)}`, ownLogin: true };
}

/** The table of the agent without the rows that this caller's own wishes rule out; in strict nothing may be lost. */
export function carriedRows({ traffic }: Adapter, options: RunOptions): readonly TrafficRow[] {
  if (options.compatibility === 'strict') return [];
  const carried = traffic.rows.filter(({ wish = [] }) => wish.every((option) => options[option] === undefined));
  return carried.map(({ wish: _own, ...row }) => row);
}
