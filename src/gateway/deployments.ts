import { existsSync, readFileSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { systemClock } from '../base/clock.ts';
import { packageVersion } from '../base/own-files.ts';
import { EngineDoor, type Reach } from '../calls/admission.ts';
import { Balancer } from '../calls/balancing/balancer.ts';
import { engineDenial } from '../calls/denied-engines.ts';
import type { Deployment, Place } from '../calls/deployment.ts';
import { engineHeaders } from '../calls/headers.ts';
import { missingAccess } from '../calls/key.ts';
import { AbpError } from '../contract/errors.ts';
import { type Engine, type Inside, servedIn } from '../engines/engine.ts';
import { addEngines, engines } from '../engines/index.ts';
import type { Transport } from '../upstream/exchange.ts';
import { type BreakerPolicy, Health } from '../upstream/health.ts';
import { type HttpTransport, httpTransport } from '../upstream/http.ts';
import { Load } from '../upstream/load.ts';
import { spliceWithoutOwnSecrets, withoutOwnSecrets } from '../upstream/own-secrets.ts';
import { type Probed, Prober } from '../upstream/prober.ts';
import { watched, watchedSplice } from '../upstream/watched.ts';
import type { Config } from './config.ts';
import { basePathOf, type DeploymentConfig, deploymentName, type EngineConfig, enginesOf } from './engine-config.ts';
import { sentSecrets } from './secret-values.ts';

const SILENCE_MS = 900_000;
const CONNECT_MS = 10_000;
const MAX_CONNECTIONS = 4096;

/** The deployments of every engine. They change when the configuration is read again. */
export interface Deployed {
  /** By the engine's id; always the same map. */
  readonly byEngine: ReadonlyMap<string, Balancer>;
  /** Makes deployments for engines whose settings have changed; the others go on as they are, with all they know. */
  prepare(config: Config): () => void;
  close(): Promise<void>;
}

/** Stands between the calls and an engine, given what the engine's address puts before the paths of its callers. */
export type Between = (reach: Reach, basePath: string) => Reach;

const NOTHING: Between = (reach) => reach;

/** Services that deployments of engines inside this process get, and what stands before all of them. */
interface Surroundings {
  readonly inside: Pick<Inside, 'store' | 'shelf' | 'node' | 'keyOf' | 'settled'>;
  readonly between: Between;
  /** Whether the operator denies the engine to everybody now. */
  readonly isDenied: (engine: string) => boolean;
}

/** Every engine as this configuration reaches it, its own engines too, which become known by their names. */
export function deploy(config: Config, inside: Surroundings['inside'], between: Between = NOTHING): Deployed {
  const known = new Map<string, ReachedEngine>();
  const byEngine = new Map<string, Balancer>();
  let denied = config.policy.deny_engines;
  const isDenied = (engine: string): boolean => engineDenial(denied, engine) !== undefined;
  const prepare = (next: Config): (() => void) => {
    const own = enginesOf(next.engines);
    const all = [...engines, ...own].map((engine) => {
      const settings = next.engines[engine.id] ?? {};
      const before = known.get(engine.id);
      return before?.text === JSON.stringify(settings) ? before : reached(engine, settings, { inside, between, isDenied });
    });
    return () => {
      denied = next.policy.deny_engines;
      const gone = [...known.values()].filter((one) => !all.includes(one));
      addEngines(own);
      known.clear();
      byEngine.clear();
      for (const one of all) {
        known.set(one.balancer.engine.id, one);
        byEngine.set(one.balancer.engine.id, one.balancer);
      }
      // Connections close once their calls have ended.
      for (const { close } of gone) void close();
    };
  };
  prepare(config)();
  return {
    byEngine,
    prepare,
    close: async () => {
      await Promise.all([...known.values()].map(({ close }) => close()));
    },
  };
}

/** Calls that an engine may be asked at the same time, by all its deployments together. */
export function connectionsOf({ engines: settings }: Config, engine: string): number {
  const { max_connections: each = MAX_CONNECTIONS, deployments } = settings[engine] ?? {};
  return each * (deployments?.length ?? 1);
}

interface ReachedEngine {
  readonly balancer: Balancer;
  /** The settings that it was made from. */
  readonly text: string;
  close(): Promise<void>;
}

/** The deployments of one engine. */
function reached(engine: Engine, settings: EngineConfig, surroundings: Surroundings): ReachedEngine {
  const all = placesOf(engine, settings).map((place) => deployment(engine, place, surroundings));
  const [first, ...more] = all.map((made) => made.deployment);
  if (first === undefined) throw new AbpError('internal', `engine ${engine.id} has no deployment`);
  const prober = proberOf(all, settings, () => !surroundings.isDenied(engine.id));
  return {
    balancer: new Balancer([first, ...more], systemClock),
    text: JSON.stringify(settings),
    close: async () => {
      prober?.close();
      await Promise.all(all.map(({ http }) => http?.close()));
    },
  };
}

/** The settings of one deployment: those of the engine, and its own over them. */
interface PlaceSettings {
  readonly settings: EngineConfig;
  readonly place: Place | undefined;
}

function placesOf(engine: Engine, settings: EngineConfig): PlaceSettings[] {
  const { deployments } = settings;
  if (deployments === undefined) return [{ settings, place: undefined }];
  return deployments.map((one, at) => {
    const own = { ...settings, ...definedOf(one), headers: { ...settings.headers, ...one.headers } };
    return { settings: own, place: placeOf(one, deploymentName(one, at), authOf(engine, own) === 'key' || engine.auth === undefined) };
  });
}

function definedOf({ key, url }: DeploymentConfig): Pick<DeploymentConfig, 'key' | 'url'> {
  return { ...(key === undefined ? {} : { key }), ...(url === undefined ? {} : { url }) };
}

function placeOf({ region, weight }: DeploymentConfig, name: string, ownKey: boolean): Place {
  return { name, weight, salt: crc32(name), load: new Load(systemClock, { ownKey }), ...(region === undefined ? {} : { region }) };
}

/** A deployment, and what must be closed with it. */
interface Made {
  readonly deployment: Deployment;
  readonly transport: Transport;
  readonly http?: HttpTransport;
}

function deployment(engine: Engine, { settings, place }: PlaceSettings, { inside, between }: Surroundings): Made {
  const load = place?.load;
  if (engine.transport !== undefined) {
    const { file, timing, ignore, prompt_cache: promptCache } = settings;
    if (file !== undefined && !existsSync(file))
      throw new AbpError('invalid_request', `engines.${engine.id}.file: there is no file ${file}.`);
    const transport = engine.transport({ ...inside, file, timing, ignore, promptCache });
    return { transport, deployment: deployed({ engine, settings, place }, { transport: watched(transport, { load }) }, between) };
  }
  const http = httpOf(settings);
  const health = new Health(breakerOf(settings), systemClock);
  const secrets = sentSecrets(settings);
  const reach = {
    transport: withoutOwnSecrets(watched(http.transport, { health, load }), secrets),
    splice: spliceWithoutOwnSecrets(watchedSplice(http.splice, load), secrets),
    health,
  };
  return { http, transport: http.transport, deployment: deployed({ engine, settings, place }, reach, between) };
}

function httpOf(settings: EngineConfig): HttpTransport {
  return httpTransport({
    maxConnections: settings.max_connections ?? MAX_CONNECTIONS,
    connectMs: CONNECT_MS,
    ...(settings.ca_file === undefined ? {} : { ca: readFileSync(settings.ca_file, 'utf8') }),
  });
}

function breakerOf({ breaker }: EngineConfig): BreakerPolicy | undefined {
  return breaker === undefined ? undefined : { failures: breaker.failures, openMs: breaker.open_s * 1000 };
}

/** Asks the deployments of an engine that has several whether they are there. */
function proberOf(all: readonly Made[], { probe_s: seconds }: EngineConfig, isAllowed: () => boolean): Prober | undefined {
  const places = all.flatMap(({ deployment: one, transport }): Probed[] => {
    if (one.place === undefined || one.origin === '') return [];
    const headers = engineHeaders(one, {}, packageVersion());
    const path = `${one.basePath}/v1/models`;
    return [{ load: one.place.load, health: one.health, transport, origin: one.origin, path, headers, isAllowed }];
  });
  return places.length === 0 ? undefined : new Prober(places, seconds);
}

function deployed(
  { engine, settings, place }: PlaceSettings & { readonly engine: Engine },
  { health, ...reach }: Reach & Pick<Deployment, 'health'>,
  between: Between,
): Deployment {
  const address = engine.transport === undefined ? (settings.url ?? engine.endpoint?.url) : undefined;
  const url = address === undefined ? undefined : new URL(address);
  const basePath = url === undefined ? '' : basePathOf(engine, url);
  const access = {
    origin: url?.origin ?? '',
    ...(settings.key === undefined ? {} : { key: settings.key }),
    auth: authOf(engine, settings),
  };
  const headers = Object.entries(settings.headers ?? {}).flat();
  const region = url === undefined ? undefined : servedIn(url);
  return {
    engine,
    ...(place === undefined ? {} : { place }),
    ...access,
    basePath,
    ...(region === undefined ? {} : { servedIn: region }),
    ...loginOf(engine, settings),
    ...(headers.length === 0 ? {} : { headers }),
    door: new EngineDoor({ ...between(reach, basePath), missing: (credential) => missingAccess(engine, access, credential) }),
    ...(health === undefined ? {} : { health }),
    silenceMs: (settings.timeout_s ?? SILENCE_MS / 1000) * 1000,
  };
}

function loginOf({ endpoint }: Engine, settings: EngineConfig): Pick<Deployment, 'login'> {
  if (endpoint?.login === undefined) return {};
  const { header, without } = endpoint.login;
  const url = new URL(settings.login_url ?? endpoint.login.url);
  return { login: { origin: url.origin, basePath: url.pathname.replace(/\/$/, ''), header, without } };
}

/** The caller's own credential goes along where the engine wants one and has none of ours. */
function authOf(engine: Engine, settings: EngineConfig): Deployment['auth'] {
  if (engine.auth === undefined) return 'none';
  if (settings.auth !== undefined) return settings.auth;
  if (settings.key !== undefined) return 'key';
  if (engine.auth.optional === true) return 'none';
  // A caller's own credential goes to its issuer, not to an address that the operator has named for another engine.
  return engine.base === undefined ? 'caller' : 'key';
}
