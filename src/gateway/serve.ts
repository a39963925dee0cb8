import { packageVersion } from '../base/package-version.ts';
import { capYoungGeneration } from '../base/young-generation.ts';
import { openHome, homePath as resolveHome } from '../home/home.ts';
import { noteConfigChange } from './audit/config-change.ts';
import { type LoadedConfig, loadConfig } from './config.ts';
import { consoleLink } from './routes/console/sessions.ts';
import { type RunningServer, startServer } from './server.ts';

export interface ServeOptions {
  readonly configPath?: string;
  readonly homePath?: string;
  readonly host?: string;
  readonly port?: number;
  readonly json: boolean;
}

/** Enough for calls whose objects live for milliseconds. */
const YOUNG_BYTES = 32 * 1024 * 1024;

/** How long the link of the greeting can be used. */
const LINK_MS = 3600 * 1000;

/** Serves until a signal ends it. */
export async function serve(options: ServeOptions): Promise<number> {
  const loaded = loadConfig({ env: process.env, ...(options.configPath === undefined ? {} : { path: options.configPath }) });
  const { config, warnings } = loaded;
  const started = await startServer({
    config: {
      ...config,
      server: { ...config.server, host: options.host ?? config.server.host, port: options.port ?? config.server.port },
    },
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
  const signal = await firstSignal();
  started.gateway.log.info(`${signal}: letting running calls end`);
  await started.close();
  return 0;
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
