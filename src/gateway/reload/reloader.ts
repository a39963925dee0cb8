import type { Logger } from 'pino';
import { isJsonObject, type Json, jsonOf } from '../../base/json.ts';
import { maskSecrets } from '../../base/redact.ts';
import { AbpError } from '../../contract/errors.ts';
import type { Config, LoadedConfig } from '../config.ts';
import { checkRoutes, enginesOf } from '../engine-config.ts';
import { secretValues } from '../secret-values.ts';

/** The outcome of reading the configuration again. */
export interface Reload {
  /** The file that was read; null where there is none. */
  readonly source: string | null;
  /** Values that hold from now on. */
  readonly changed: readonly ConfigChange[];
  /** Values that need a restart. */
  readonly restart: readonly ConfigChange[];
}

/** Takes a part of a configuration over. Throws before anything is changed; what it returns makes the change and cannot fail. */
export type Prepare = (config: Config) => () => void | Promise<void>;

/** Tables whose values can change while the server runs. */
const LIVE: readonly string[] = ['engines', 'routes', 'budgets', 'policy.deny_engines', 'policy.deny_models'].concat(
  'policy.allowed_tools',
  'policy.disallowed_tools',
  'limits.requests_per_minute',
  'limits.tokens_per_minute',
  'limits.concurrency',
);

/** Those who must know of a reload. */
interface ReloadOutlook {
  /** Hears of the secrets that the file holds; none of them is used before it has resolved, so that they are taken out of all that is kept. */
  readonly onSecrets: (values: readonly string[]) => Promise<void>;
  /** Hears of the configuration that holds from now on. */
  readonly onChanged: (config: Config) => void;
}

interface ReloaderOptions extends ReloadOutlook {
  readonly source: string | null;
  /** Absent for a server that was started without a file. */
  readonly read: (() => LoadedConfig) | undefined;
  readonly prepares: readonly Prepare[];
  readonly log: Logger;
}

/** Reads the configuration again while the server runs. A broken file changes nothing. */
export class Reloader {
  /** The file that the server was started with; null where there is none. */
  readonly source: string | null;
  readonly #read: (() => LoadedConfig) | undefined;
  readonly #prepares: readonly Prepare[];
  readonly #log: Logger;
  readonly #outlook: ReloadOutlook;
  #config: Config;
  /** Reloads come one after the other. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(config: Config, { source, read, prepares, log, ...outlook }: ReloaderOptions) {
    this.#config = config;
    this.source = source;
    this.#read = read;
    this.#prepares = prepares;
    this.#log = log;
    this.#outlook = outlook;
  }

  /** The configuration in effect. */
  get config(): Config {
    return this.#config;
  }

  /** Reads the file and tells what a reload would change, without changing it. Throws where the file is broken. */
  diff(): Reload {
    const { config, source } = this.#load();
    return { source, ...this.#sorted(config) };
  }

  /** Makes what can change hold. Throws, and changes nothing, where the file is broken. */
  async reload(): Promise<Reload> {
    const turn = this.#turn.then(() => this.#reload());
    // The caller of each sees its failure.
    this.#turn = turn.catch(() => undefined);
    return await turn;
  }

  async #reload(): Promise<Reload> {
    const { config, source } = this.#load();
    const sorted = this.#sorted(config);
    const next = withLive(this.#config, config, sorted.changed);
    checkRoutes(next.routes, enginesOf(next.engines));
    const commits = this.#prepares.map((prepare) => prepare(next));
    await this.#outlook.onSecrets(secretValues(next, ''));
    for (const commit of commits) await commit();
    this.#config = next;
    if (sorted.changed.length > 0) this.#outlook.onChanged(next);
    const paths = (all: readonly ConfigChange[]): string[] => all.map(({ path }) => path);
    this.#log.info({ source, changed: paths(sorted.changed), restart: paths(sorted.restart) }, 'the configuration was read again');
    return { source, ...sorted };
  }

  #load(): LoadedConfig {
    if (this.#read === undefined)
      throw new AbpError('unprocessable', 'This server was started without a configuration file to read again.');
    return this.#read();
  }

  /** Which values can change now. */
  #sorted(config: Config): Pick<Reload, 'changed' | 'restart'> {
    const all = changesBetween(this.#config, config);
    const isLive = ({ path }: ConfigChange): boolean => LIVE.some((one) => path === one || path.startsWith(`${one}.`));
    return { changed: all.filter(isLive), restart: all.filter((one) => !isLive(one)) };
  }
}

/** The running configuration with the values of the file that can change now. */
function withLive(running: Config, file: Config, changed: readonly ConfigChange[]): Config {
  const has = (path: string): boolean => changed.some((one) => one.path === path || one.path.startsWith(`${path}.`));
  const { deny_engines, deny_models, allowed_tools, disallowed_tools } = file.policy;
  const policy = { ...running.policy, deny_engines, deny_models, allowed_tools, disallowed_tools };
  const { requests_per_minute, tokens_per_minute, concurrency } = file.limits;
  const ids = new Set([...Object.keys(running.engines), ...Object.keys(file.engines)]);
  const engines = [...ids].flatMap((id) => {
    const settings = has(`engines.${id}`) ? file.engines[id] : running.engines[id];
    return settings === undefined ? [] : [[id, settings] as const];
  });
  return {
    ...running,
    policy: policy as Config['policy'], // members that the file leaves out are undefined, which the schema means by absent
    limits: { ...running.limits, requests_per_minute, tokens_per_minute, concurrency },
    routes: file.routes,
    budgets: file.budgets,
    engines: Object.fromEntries(engines),
  };
}

/** One value of the configuration in which the file and the running server differ. Secrets are masked. */
interface ConfigChange {
  /** `engines.claude.url`. */
  readonly path: string;
  readonly running: Json;
  readonly file: Json;
}

/** Every value in which two configurations differ, by path. Lists count as one value. */
function changesBetween(running: Config, file: Config): ConfigChange[] {
  const [before, after] = [leavesOf(jsonOf(running)), leavesOf(jsonOf(file))];
  return [...new Set([...before.keys(), ...after.keys()])].sort().flatMap((path): ConfigChange[] => {
    const [one = null, other = null] = [before.get(path), after.get(path)];
    if (JSON.stringify(one) === JSON.stringify(other)) return [];
    const name = path.slice(path.lastIndexOf('.') + 1);
    return [{ path, running: maskSecrets(one, name), file: maskSecrets(other, name) }];
  });
}

function leavesOf(value: Json, path = ''): Map<string, Json> {
  // Headers may hold secrets under any name, so they are one value that is masked as a whole.
  if (!isJsonObject(value) || path.endsWith('.headers')) return new Map([[path, value]]);
  return new Map(Object.entries(value).flatMap(([name, member]) => [...leavesOf(member, path === '' ? name : `${path}.${name}`)]));
}
