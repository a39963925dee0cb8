import { existsSync, readFileSync } from 'node:fs';
import { systemClock } from '../base/clock.ts';
import { EngineDoor, type Reach } from '../calls/admission.ts';
import type { Deployment } from '../calls/deployment.ts';
import { missingAccess } from '../calls/key.ts';
import { AbpError } from '../contract/errors.ts';
import type { Engine, Inside } from '../engines/engine.ts';
import { addEngines, engines } from '../engines/index.ts';
import { type BreakerPolicy, Health } from '../upstream/health.ts';
import { type HttpTransport, httpTransport } from '../upstream/http.ts';
import { watched } from '../upstream/watched.ts';
import type { Config } from './config.ts';
import { basePathOf, type EngineConfig, enginesOf } from './engine-config.ts';

const SILENCE_MS = 900_000;
const CONNECT_MS = 10_000;
const MAX_CONNECTIONS = 4096;

export interface Deployments {
  readonly byEngine: ReadonlyMap<string, Deployment>;
  close(): Promise<void>;
}

/** Stands between the calls and an engine, given what the engine's address puts before the paths of its callers. */
export type Between = (reach: Reach, basePath: string) => Reach;

const NOTHING: Between = (reach) => reach;

/** Every engine as this configuration reaches it, its own engines too, which become known by their names. */
export function deploy(
  config: Config,
  inside: Pick<Inside, 'store' | 'shelf' | 'node' | 'keyOf' | 'settled'>,
  between: Between = NOTHING,
): Deployments {
  const transports: HttpTransport[] = [];
  const own = enginesOf(config.engines);
  addEngines(own);
  const byEngine = new Map(
    [...engines, ...own].map((engine) => {
      const settings = config.engines[engine.id] ?? {};
      if (engine.transport !== undefined) {
        const { file, timing, ignore } = settings;
        if (file !== undefined && !existsSync(file))
          throw new AbpError('invalid_request', `engines.${engine.id}.file: there is no file ${file}.`);
        return [
          engine.id,
          deployment(engine, settings, { transport: engine.transport({ ...inside, file, timing, ignore }) }, between),
        ] as const;
      }
      const http = httpOf(settings);
      transports.push(http);
      const health = new Health(breakerOf(settings), systemClock);
      return [
        engine.id,
        deployment(engine, settings, { transport: watched(http.transport, health), splice: http.splice, health }, between),
      ] as const;
    }),
  );
  return {
    byEngine,
    close: async () => {
      await Promise.all(transports.map((transport) => transport.close()));
    },
  };
}

/** Calls that an engine may be asked at the same time. */
export function connectionsOf({ engines: settings }: Config, engine: string): number {
  return settings[engine]?.max_connections ?? MAX_CONNECTIONS;
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

function deployment(
  engine: Engine,
  settings: EngineConfig,
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
  return {
    engine,
    ...access,
    basePath,
    ...loginOf(engine, settings),
    ...(settings.headers === undefined ? {} : { headers: Object.entries(settings.headers).flat() }),
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
