import { setTimeout as sleep } from 'node:timers/promises';
import { packageVersion } from '../../base/own-files.ts';
import { AbpError } from '../../contract/errors.ts';
import { type Home, openHome } from '../../home/home.ts';
import type { GatewayPort } from '../../runtime/gateway-port.ts';
import { loadConfig } from '../config.ts';
import type { Gateway } from '../gateway.ts';
import { openLog } from '../log.ts';
import { secretValues } from '../secret-values.ts';
import { startServer } from '../server.ts';
import { attachedRunsOf } from './attach.ts';
import { runPort } from './run-port.ts';
import { runsIdle } from './runs.ts';
import { serverPort, visit } from './server-port.ts';

export interface RunGatewayOptions {
  readonly homePath?: string | undefined;
  readonly configPath?: string | undefined;
  /** Called when this process has nothing more to do and others still go through its gateway. */
  onWaiting?(): void;
}

/** A gateway for the runs of this process: the server of the home, or one inside this process while it lasts. */
export interface RunGateway {
  readonly port: GatewayPort;
  readonly home: Home;
  /** Present when it runs in this process. */
  readonly inside?: Gateway;
  close(): Promise<void>;
}

/** How long another process may take between taking the home and answering, or between its last run and its end. */
const PATIENCE_MS = 30_000;
const LOOK_MS = 25;
/** A command that read the address before it was taken away sends its run within this time. */
const LATECOMERS_MS = 500;
/** People hear after this long why a command that has done its work does not end. */
const WAITING_MS = 2000;

/**
 * Takes the running server of the home, else starts one on a free port of loopback. Processes that start in the same moment find one
 * another: one becomes the server, the others wait until it answers; and when it ends, one of those that come later is the next.
 */
export async function openRunGateway(options: RunGatewayOptions = {}): Promise<RunGateway> {
  const home = openHome({ path: options.homePath });
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const running = await attached(home);
    if (running !== undefined) return running;
    const patient = performance.now() < deadline;
    if (!patient || !home.isServed()) {
      try {
        return await started(home, options);
      } catch (error) {
        if (!patient || !AbpError.is(error) || error.code !== 'conflict') throw error;
      }
    }
    await sleep(LOOK_MS);
  }
}

async function attached(home: Home): Promise<RunGateway | undefined> {
  const address = home.readAddress();
  if (address === undefined) return undefined;
  const server = { url: address.url, token: home.token };
  const leave = await visit(server);
  return leave === undefined ? undefined : { port: serverPort(server), home, close: leave };
}

async function started(home: Home, { configPath, onWaiting }: RunGatewayOptions): Promise<RunGateway> {
  const { config } = loadConfig({ env: process.env, homePath: home.path, ...(configPath === undefined ? {} : { path: configPath }) });
  const { cert_file: _cert, key_file: _key, ...server } = config.server;
  const log = openLog(config.recording.redact, undefined, secretValues(config, home.token));
  log.level = process.env.ABP_LOG ?? 'error';
  const running = await startServer({
    config: {
      ...config,
      server: { ...server, host: '127.0.0.1', port: 0, trust_proxy: false },
      // It serves the agents of this process, which have keys; nobody else needs to come in.
      auth: { ...config.auth, local: false },
      recording: { ...config.recording, default: config.recording.default ?? (config.auth.local ? 'full' : 'digest') },
    },
    home,
    version: packageVersion(),
    log,
  });
  const { gateway } = running;
  const close = async (): Promise<void> => {
    const waiting = onWaiting === undefined ? undefined : setTimeout(onWaiting, WAITING_MS);
    await othersGone(gateway);
    home.removeAddress();
    await sleep(LATECOMERS_MS);
    await othersGone(gateway);
    clearTimeout(waiting);
    await running.close();
  };
  return { port: runPort(gateway), home, inside: gateway, close };
}

/** Other processes of the home may have found the gateway and run their agents through it; nobody new is taken when this resolves. */
async function othersGone(gateway: Gateway): Promise<void> {
  const attachedRuns = attachedRunsOf(gateway);
  do {
    await runsIdle(gateway);
    await attachedRuns.idle();
  } while (!attachedRuns.shut());
}
