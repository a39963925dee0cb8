import { setTimeout as sleep } from 'node:timers/promises';
import { packageVersion } from '../base/own-files.ts';
import { capYoungGeneration } from '../base/young-generation.ts';
import { openHome, openProcessHome, homePath as resolveHome } from '../home/home.ts';
import { noteConfigChange } from './audit/config-change.ts';
import { type LoadedConfig, loadConfig } from './config.ts';
import { openLog } from './log.ts';
import { firstSignal } from './processes/first-signal.ts';
import { type Membership, STOP, takeMembership, tellSupervisor } from './processes/member.ts';
import { settleRetired } from './processes/retired.ts';
import { watchFile } from './reload/watch-file.ts';
import { consoleLink } from './routes/console/sessions.ts';
import { secretValues } from './secret-values.ts';
import { type RunningServer, startServer } from './server.ts';

export interface ServeOptions {
  readonly configPath?: string;
  readonly homePath?: string;
  readonly host?: string;
  readonly port?: number;
  readonly json: boolean;
  /** Whether the configuration is read again when its file changes. */
  readonly watch?: boolean | undefined;
  /** How many processes share the port; absent for this one alone. */
  readonly processes?: number | undefined;
}

/** Enough for calls whose objects live for milliseconds. */
const YOUNG_BYTES = 32 * 1024 * 1024;

/** How long the link of the greeting can be used. */
const LINK_MS = 3600 * 1000;

/** Serves until a signal ends it. */
export async function serve(options: ServeOptions): Promise<number> {
  const member = takeMembership();
  if (member === undefined && options.processes !== undefined) return await superviseProcesses(options, options.processes);
  return await serveHere(options, member);
}

/** Starts the processes that serve, and does nothing else. */
async function superviseProcesses(options: ServeOptions, count: number): Promise<number> {
  const { config } = configOf(options);
  const { token } = openHome(options.homePath === undefined ? {} : { path: options.homePath });
  const { Supervisor } = await import('./processes/supervisor.ts');
  const log = openLog(config.recording.redact, undefined, secretValues(config, token));
  const onReady = (url: string): void => {
    process.stdout.write(
      options.json ? `${JSON.stringify({ url, pid: process.pid, processes: count })}\n` : `  processes   ${count}   (pid ${process.pid})\n`,
    );
  };
  return await new Supervisor({ count, config, log, onReady }).run();
}

async function serveHere(options: ServeOptions, member: Membership | undefined): Promise<number> {
  const hangUps = hearHangUps();
  const read = (): LoadedConfig => configOf({ ...options, port: member?.port ?? options.port });
  const loaded = read();
  const { config, warnings } = loaded;
  const first = openHome(options.homePath === undefined ? {} : { path: options.homePath });
  const started = await startServer({
    config,
    reread: read,
    source: loaded.source,
    home: member === undefined || member.number === 1 ? first : openProcessHome(first, member.number),
    version: packageVersion(),
    logsRequests: true,
    member,
  });
  const { gateway } = started;
  capYoungGeneration(YOUNG_BYTES);
  if (member === undefined || member.number === 1) {
    for (const warning of warnings) gateway.log.warn(warning);
    await noteConfigChange(gateway);
  }
  // Listened to before anybody is told where the server is: a signal that comes right then ends it properly, too.
  const signalled = firstWord(member);
  const settled = member === undefined || member.number === 1 ? retiredSettled(gateway, member?.count ?? 1) : undefined;
  if (member === undefined || member.greets) greet(started, loaded, options, member);
  if (member !== undefined) tellSupervisor({ kind: 'ready', url: started.url, ownPort: Number(new URL(gateway.ownUrl).port) });
  const stopReloading = reloading(started, loaded, options, hangUps);
  const signal = await signalled;
  stopReloading();
  gateway.log.info(`${signal}: letting running calls end`);
  gateway.draining = true;
  // Where other processes share the port, nobody has to go elsewhere first.
  if (signal !== STOP) await sleep(config.server.drain_wait_s * 1000);
  await settled;
  await started.close();
  // The line to the one that started this process would keep it alive.
  if (member !== undefined) process.disconnect?.();
  return 0;
}

/** Beside the service: callers do not wait for what processes of before have left. */
async function retiredSettled(gateway: RunningServer['gateway'], serving: number): Promise<void> {
  try {
    await settleRetired(gateway, serving);
  } catch (error) {
    gateway.log.error({ error }, 'journals of processes that serve no more could not be settled; the next start tries again');
  }
}

/** Says where the server is. Where there are several processes, the one that starts them says it as JSON, once all of them answer. */
function greet(started: RunningServer, loaded: LoadedConfig, options: ServeOptions, member: Membership | undefined): void {
  if (options.json) {
    if (member === undefined) process.stdout.write(`${JSON.stringify({ url: started.url, pid: process.pid })}\n`);
    return;
  }
  process.stdout.write(greeting(started, loaded, resolveHome(options.homePath)));
  started.gateway.browsers.files.prepare((line) => process.stdout.write(`  console     ${line}\n`));
}

/** The configuration with what the command line says over it. */
function configOf({ configPath, homePath, host, port }: Omit<ServeOptions, 'port'> & { readonly port?: number | undefined }): LoadedConfig {
  const loaded = loadConfig({ env: process.env, homePath, ...(configPath === undefined ? {} : { path: configPath }) });
  const { server } = loaded.config;
  return { ...loaded, config: { ...loaded.config, server: { ...server, host: host ?? server.host, port: port ?? server.port } } };
}

/** SIGHUP from the beginning on: one that nobody listens to would end a server that starts. In a terminal it means that the terminal is gone. */
interface HangUps {
  /** Whether one has come already. */
  heard: boolean;
  act: () => void;
}

function hearHangUps(): HangUps {
  const hangUps: HangUps = { heard: false, act: () => (hangUps.heard = true) };
  if (!process.stdin.isTTY) process.on('SIGHUP', () => hangUps.act());
  return hangUps;
}

/** Reads the configuration again at SIGHUP, and where that is wanted when its file changes. */
function reloading({ gateway }: RunningServer, { source }: LoadedConfig, { watch }: ServeOptions, hangUps: HangUps): () => void {
  const reload = (): void => {
    gateway.reloader.reload().catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error);
      gateway.log.error({ reason }, 'the configuration could not be read again; the one before holds');
    });
  };
  hangUps.act = reload;
  if (hangUps.heard) reload();
  const watcher = watch === true && source !== null ? watchFile(source, reload) : undefined;
  return () => {
    hangUps.act = () => undefined;
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

async function firstWord(member: Membership | undefined): Promise<NodeJS.Signals | typeof STOP> {
  const stop = new Promise<typeof STOP>((resolve) => {
    if (member !== undefined) process.on('message', (message) => message === STOP && resolve(STOP));
  });
  return await Promise.race([firstSignal(), stop]);
}
