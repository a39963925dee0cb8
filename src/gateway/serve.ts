import { packageVersion } from '../base/package-version.ts';
import { capYoungGeneration } from '../base/young-generation.ts';
import { AbpError } from '../contract/errors.ts';
import { openHome, homePath as resolveHome } from '../home/home.ts';
import { noteConfigChange } from './audit/config-change.ts';
import { type LoadedConfig, loadConfig } from './config.ts';
import { watchFile } from './reload/watch-file.ts';
import { consoleLink } from './routes/console/sessions.ts';
import { type RunningServer, startServer } from './server.ts';

export interface ServeOptions {
  readonly configPath?: string;
  readonly homePath?: string;
  readonly host?: string;
  readonly port?: number;
  readonly json: boolean;
  /** Whether the configuration is read again when its file changes. */
  readonly watch?: boolean | undefined;
}

/** Enough for calls whose objects live for milliseconds. */
const YOUNG_BYTES = 32 * 1024 * 1024;

/** How long the link of the greeting can be used. */
const LINK_MS = 3600 * 1000;

/** Serves until a signal ends it. */
export async function serve(options: ServeOptions): Promise<number> {
  const read = (): LoadedConfig => configOf(options);
  const loaded = read();
  const { config, warnings } = loaded;
  const started = await startServer({
    config,
    reread: read,
    home: openHome(options.homePath === undefined ? {} : { path: options.homePath }),
    version: packageVersion(),
    logsRequests: true,
  });
  capYoungGeneration(YOUNG_BYTES);
  for (const warning of warnings) started.gateway.log.warn(warning);
  await noteConfigChange(started.gateway);
  process.stdout.write(
    options.json ? `${JSON.stringify({ url: started.url, pid: process.pid })}\n` : greeting(started, loaded, resolveHome(options.homePath)),
  );
  if (!options.json) started.gateway.browsers.files.prepare((line) => process.stdout.write(`  console     ${line}\n`));
  const stopReloading = reloading(started, loaded, options);
  const signal = await firstSignal();
  stopReloading();
  started.gateway.log.info(`${signal}: letting running calls end`);
  await started.close();
  return 0;
}

/** The configuration with what the command line says over it. */
function configOf({ configPath, homePath, host, port }: ServeOptions): LoadedConfig {
  const loaded = loadConfig({ env: process.env, homePath, ...(configPath === undefined ? {} : { path: configPath }) });
  const { server } = loaded.config;
  return { ...loaded, config: { ...loaded.config, server: { ...server, host: host ?? server.host, port: port ?? server.port } } };
}

/** Reads the configuration again at SIGHUP, and where that is wanted when its file changes. In a terminal SIGHUP means that the terminal is gone. */
function reloading({ gateway }: RunningServer, { source }: LoadedConfig, { watch }: ServeOptions): () => void {
  const reload = (): void => {
    try {
      gateway.reloader.reload();
    } catch (error) {
      if (!AbpError.is(error)) throw error;
      gateway.log.error({ reason: error.message }, 'the configuration could not be read again; the one before holds');
    }
  };
  if (!process.stdin.isTTY) process.on('SIGHUP', reload);
  const watcher = watch === true && source !== null ? watchFile(source, reload) : undefined;
  return () => {
    process.off('SIGHUP', reload);
    watcher?.close();
  };
}

function greeting(server: RunningServer, loaded: LoadedConfig, home: string): string {
  const all = [...server.gateway.calls.deployments.values()].map(({ first }) => first);
  const named = (test: (deployment: (typeof all)[number]) => boolean): string =>
    all
      .filter(test)
      .map(({ engine }) => engine.id)
      .join(', ');
  const keyed = named(({ auth }) => auth === 'key');
  return [
    `Agent Backplane ${server.gateway.version} on ${server.url}`,
    `  console     ${consoleLink(server.gateway, 'all', LINK_MS).url}   (opens once, within an hour; abp console prints another)`,
    `  try it      ${server.url}/e/sim   (any vendor SDK, ${loaded.config.auth.local ? 'no key from this machine' : 'with a key: abp keys create NAME makes one'})`,
    `  engines     built in: ${named(({ engine }) => engine.transport !== undefined)}${keyed === '' ? '' : ` · with a key: ${keyed}`}`,
    `              with the caller’s own key: ${named(({ auth }) => auth === 'caller')}`,
    `              on this machine: ${named(({ auth, engine }) => auth === 'none' && engine.transport === undefined)}`,
    `  home        ${home}${loaded.source === null ? '' : `   config ${loaded.source}`}`,
    `  receipts    ${server.url}/v1/receipts   API ${server.url}/openapi.json`,
    '',
  ].join('\n');
}

async function firstSignal(): Promise<NodeJS.Signals> {
  return await new Promise((resolve) => {
    process.once('SIGINT', resolve);
    process.once('SIGTERM', resolve);
  });
}
