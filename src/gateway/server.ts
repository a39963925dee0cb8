import { type Logger, pino } from 'pino';
import { LiveRuns } from '../calls/live-runs.ts';
import { allowAll, type Policy } from '../calls/policy.ts';
import { type Keeper, startKeeper } from '../receipts/keeper.ts';
import { openStore } from '../store/database.ts';
import type { Home } from '../store/home.ts';
import { KeyRing } from './auth/key-ring.ts';
import type { Config } from './config.ts';
import { deploy } from './deployments.ts';
import type { Gateway } from './gateway.ts';
import { assertSafeBind, listen } from './listener.ts';
import { BodyBudget } from './vendor/body.ts';

const MIB = 1024 * 1024;
/** How long the last answers may take to be read for their receipts. */
const SETTLE_MS = 5000;

export interface ServerOptions {
  readonly config: Config;
  readonly home: Home;
  readonly version: string;
  readonly log?: Logger;
  /** Default: everything is allowed. */
  readonly policy?: Policy;
}

export interface RunningServer {
  readonly url: string;
  readonly gateway: Gateway;
  /** Stops taking calls, lets running ones end, and settles every receipt. */
  close(): Promise<void>;
}

/** What has been opened so far and must be closed, last opened first. */
type Closers = (() => void | Promise<void>)[];

/** Opens the home, the database and the port. What was opened is closed again when a later step fails. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  assertSafeBind(options.config);
  const closers: Closers = [];
  const close = async (): Promise<void> => {
    for (let closer = closers.pop(); closer !== undefined; closer = closers.pop()) await closer();
  };
  try {
    const gateway = await open(options, closers);
    return { url: gateway.url, gateway, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function open({ config, home, version, log = defaultLog(), policy = allowAll }: ServerOptions, closers: Closers): Promise<Gateway> {
  const lock = home.lockServer();
  closers.push(() => lock.release());
  const live = new LiveRuns();
  const keeper = keeperOf({ config, home, version, log }, live);
  closers.push(() => keeper.close());
  const database = config.database.url;
  const store = await openStore({ home, ...(database === undefined ? {} : { url: database }) });
  closers.push(() => store.close());
  const deployments = deploy(config);
  closers.push(() => deployments.close());
  const gateway: Gateway = {
    config,
    home,
    store,
    keeper,
    live,
    keys: new KeyRing(store, home.token),
    deployments: deployments.byEngine,
    policy,
    budget: new BodyBudget(config.limits.in_flight_mb * MIB),
    log,
    version,
    url: '',
  };
  // A run accepted before the past is settled would be taken for one that an earlier process left open.
  const interrupted = await keeper.ready;
  if (interrupted > 0) log.warn({ interrupted }, 'runs of an earlier process were closed as interrupted');
  closers.push(() => live.idle(SETTLE_MS));
  const listener = await listen(gateway);
  closers.push(() => listener.close());
  gateway.url = listener.url;
  home.writeAddress({ url: gateway.url, pid: process.pid });
  closers.push(() => home.removeAddress());
  return gateway;
}

function keeperOf({ config, home, version, log }: Required<Omit<ServerOptions, 'policy'>>, live: LiveRuns): Keeper {
  const databaseUrl = config.database.url;
  return startKeeper({
    homePath: home.path,
    journalFolder: home.journalFolder,
    ...(databaseUrl === undefined ? {} : { databaseUrl }),
    version,
    onStalled: (message) => log.error({ message }, 'receipts are not reaching the database; they stay in the journal'),
    onSettled: (runs) => live.settled(runs),
  });
}

function defaultLog(): Logger {
  return pino({ level: process.env.ABP_LOG ?? 'info', serializers: { error: pino.stdSerializers.err } }, pino.destination(2));
}
