import type { Logger } from 'pino';
import { endAll } from '../base/end-all.ts';
import { redactor, withoutValues } from '../base/redact.ts';
import type { Check } from '../calls/admission.ts';
import { LargeBodies } from '../calls/large-bodies/large-bodies.ts';
import { LiveRuns } from '../calls/live-runs.ts';
import { AbpError } from '../contract/errors.ts';
import { parseRunId } from '../contract/run-id.ts';
import type { Home } from '../home/home.ts';
import { type Keeper, startKeeper } from '../receipts/keeper/keeper.ts';
import type { KeeperOptions } from '../receipts/keeper/keeper-protocol.ts';
import { databaseWord, lastDatabase } from '../receipts/seal/last-database.ts';
import { openStore } from '../store/database.ts';
import { BodyShelf } from '../store/recordings/body-shelf.ts';
import { agentPlaneOf } from './agent-plane/agent-plane.ts';
import { sessionServiceOf } from './agent-plane/sessions.ts';
import { AuditLog } from './audit/audit-log.ts';
import { KeyRing } from './auth/key-ring.ts';
import { callContextOf } from './call-context.ts';
import type { Config, LoadedConfig } from './config.ts';
import { browsersOf, openNotes } from './console/browsers.ts';
import { type Between, deploy } from './deployments.ts';
import { assertSafeBind, type Listener, listen } from './door/listener.ts';
import { openMetricsPort } from './door/metrics-port.ts';
import type { Gateway } from './gateway.ts';
import { HeadPublisher } from './head-publisher.ts';
import { openLog } from './log.ts';
import { keeperOf } from './open-keeper.ts';
import type { Membership } from './processes/member.ts';
import { otherBodies, siblingsOf } from './processes/siblings.ts';
import { bucketOf } from './recording.ts';
import { heldTo, openSharedChanges, preparesOf } from './reload/held-tables.ts';
import { Reloader } from './reload/reloader.ts';
import { toldOfReloads } from './reload/told-of-reloads.ts';
import { responseCacheOf } from './response-cache.ts';
import { metricsReply } from './routes/health.ts';
import { onLoopback, type RunDoor, serverDoor, workerDoor } from './run-plane/run-door.ts';
import { closeRuns, keepStagesTidy, runServiceOf, settleEarlierRuns } from './run-plane/runs.ts';
import { secretValues } from './secret-values.ts';
import { SignIns } from './sign-in/sign-ins.ts';
import { Telemetry } from './telemetry/telemetry.ts';
import { failureWatcher, OccasionWatch } from './webhooks/occasions.ts';
import { Webhooks } from './webhooks/webhooks.ts';

/** How long the last answers may take to be read for their receipts. */
const SETTLE_MS = 5000;

export interface ServerOptions {
  readonly config: Config;
  readonly home: Home;
  readonly version: string;
  readonly log?: Logger;
  /** Policy, budgets and limits, in the order they are asked; without any, a key's permission and the engine's key alone decide. */
  readonly checks?: readonly Check[];
  /** A layer between the calls and their engines, such as recordings. */
  readonly between?: Between;
  /** Whether the log gets a line for every request. */
  readonly logsRequests?: boolean;
  /** Reads the configuration again; absent for a server without a file. */
  readonly reread?: (() => LoadedConfig) | undefined;
  /** The file that the configuration came from. */
  readonly source?: string | null;
  /** Starts what keeps receipts. */
  readonly keep?: (options: KeeperOptions) => Keeper;
  /** The place of this process among those that share the port. */
  readonly member?: Membership | undefined;
}

export interface RunningServer {
  readonly url: string;
  readonly gateway: Gateway;
  /** Stops taking calls, lets running ones end, and settles every receipt. */
  close(): Promise<void>;
}

/** How to close each thing that has been opened so far; the last opened is closed first. */
type Closers = (() => void | Promise<void>)[];

/** Opens the home, the database and the port. What was opened is closed again when a later step fails. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  assertSafeBind(options.config);
  const listening = Promise.withResolvers<void>();
  return await opened(async (closers) => {
    const gateway = await admit(await assemble(options, closers, serverDoor(listening.promise)), options, closers);
    listening.resolve();
    return gateway;
  });
}

/** Opens the same without a port, to work on turns alone. The home is its own: one process has one journal. */
export async function startWorker(options: ServerOptions): Promise<RunningServer> {
  const config = onLoopback(options.config);
  return await opened(
    async (closers) => await serveMetrics((await assemble({ ...options, config }, closers, workerDoor())).gateway, closers),
  );
}

async function opened(open: (closers: Closers) => Promise<Gateway>): Promise<RunningServer> {
  const closers: Closers = [];
  // One that cannot be closed as it should, as where the database is away, must not leave the others open: the process would never end.
  const close = (): Promise<unknown[]> => endAll(closers.splice(0).reverse());
  try {
    const gateway = await open(closers);
    const { log } = gateway;
    const told = async (): Promise<void> => {
      for (const error of await close())
        log.error({ error }, 'something was not closed as it should be; the next start goes on from what is written');
    };
    return { url: gateway.url, gateway, close: told };
  } catch (error) {
    // Why it did not open is the reason; what could not be closed again follows from it.
    await close();
    throw error;
  }
}

interface Assembled {
  readonly gateway: Gateway;
  readonly closing: AbortController;
}

/** Everything but the port. */
async function assemble(
  {
    config,
    home,
    version,
    log = openLog(config.recording.redact, undefined, secretValues(config, home.token)),
    checks = [],
    between,
    reread,
    source = null,
    keep = startKeeper,
    logsRequests = false,
    member,
  }: ServerOptions,
  closers: Closers,
  door: RunDoor,
): Promise<Assembled> {
  const { live, shelf, telemetry, keeper, store } = await openBooks({ config, home, version, log, keep, logsRequests }, closers);
  const keyOf = (hex: string) => keyOfRun(live, hex);
  const deployments = deploy(config, { store, shelf, node: home.nodeId, keyOf, settled: () => keeper.settled() }, between);
  closers.push(() => deployments.close());
  const told = toldOutside(config, { home, store, keeper, log, telemetry }, closers);
  const held = await heldTo(config, { store, keeper, live, log, node: home.nodeId, webhooks: told.webhooks }, closers);
  const runs = () => door.open(gateway).then(() => runServiceOf(gateway));
  const agents = agentPlaneOf(config, { store, routes: held.routes, version, runs });
  closers.push(() => agents.close());
  const standingOf = (key: string) => held.people.standingOf(key);
  const keys = new KeyRing(store, home.token, { rememberedMs: config.auth.remember_s * 1000, standingOf });
  const large = new LargeBodies();
  closers.push(() => large.close());
  const cache = responseCacheOf(config, home.path, log);
  const shared = { live, deployments: deployments.byEngine, large, cache, version, traces: telemetry.traces };
  const reloader = new Reloader(config, {
    ...{ source, read: reread, log, prepares: preparesOf(deployments, held) },
    ...toldOfReloads({ keeper, store, home, log, audit: told.audit }),
  });
  const calls = callContextOf(() => reloader.config, { checks, ...held, ...shared, keeper, keys, log, store });
  const sessions = sessionServiceOf(config, { home, store, agents, calls, log });
  const closing = new AbortController();
  const gateway: Gateway = {
    get config() {
      return reloader.config;
    },
    reloader,
    home,
    store,
    shelf,
    keeper,
    keys,
    ...held,
    ...told,
    browsers: browsersOf(store, home.path),
    ...signInsOf(config, { store, keys, ...held, ...told }, () => gateway.sharedChanges),
    calls,
    runPlane: { admitted: new Map(), claimed: new Set() },
    agents,
    sessions,
    telemetry,
    log,
    version,
    closing: closing.signal,
    url: '',
    ownUrl: '',
    draining: false,
    siblings: member === undefined ? undefined : siblingsOf(member, home),
    takeConnection: undefined,
    sharedChanges: undefined,
  };
  await telemetry.open({ version, node: home.nodeId });
  await settlePast(gateway);
  closers.push(keepStagesTidy(gateway));
  gateway.sharedChanges = await openSharedChanges(gateway, { url: config.database.url, node: home.nodeId }, closers);
  await tellOutside(gateway, closers);
  closers.push(() => live.idle(SETTLE_MS));
  closers.push(() => door.close());
  // Turns may have started some since those of the callers were ended.
  closers.push(() => closeRuns(gateway));
  closers.push(() => sessions.close());
  await sessions.start(config.database.url);
  return { gateway, closing };
}

function signInsOf(
  { oidc }: Config,
  { store, people, keys, audit }: Pick<Gateway, 'store' | 'people' | 'keys' | 'audit'>,
  shared: () => Gateway['sharedChanges'],
): Pick<Gateway, 'signIns'> {
  if (oidc === undefined) return {};
  return { signIns: new SignIns(oidc, { store, people, keys, audit, tell: async () => await shared()?.tell() }) };
}

/** Opens the store, the keeper and the shelf of bodies: everything that this server writes down goes through them. */
async function openBooks(
  { config, home, version, log, keep, logsRequests }: Required<Omit<ServerOptions, 'checks' | 'between' | 'reread' | 'source' | 'member'>>,
  closers: Closers,
): Promise<Pick<Gateway, 'shelf' | 'telemetry' | 'keeper' | 'store'> & { readonly live: LiveRuns }> {
  const lock = home.lockServer();
  closers.push(() => lock.release());
  const before = lastDatabase(home.path, config.database.url);
  if (before !== undefined)
    log.warn(
      `this home last used ${before}, and uses ${databaseWord(config.database.url)} now: keys and receipts of before are not in it (ABP_DATABASE_URL, database.url)`,
    );
  const live = new LiveRuns();
  const heads = new HeadPublisher({ webhook: config.receipts.head_webhook, log });
  closers.push(() => heads.close());
  // Before the keeper, which opens it too: two that make a new file at once get in each other's way.
  const shelf = new BodyShelf(home.bodiesFolder, () => otherBodies(home), bucketOf(config, home.nodeId));
  closers.push(() => shelf.close());
  const telemetry = new Telemetry(config, log, logsRequests);
  closers.push(() => telemetry.close());
  const keeper = keeperOf({ config, home, version, log, keep }, { live, heads, telemetry });
  closers.push(() => keeper.close());
  const database = config.database.url;
  const withoutSecrets = withoutValues(secretValues(config, home.token));
  const store = await openStore({ home, besideKeeper: true, withoutSecrets, ...(database === undefined ? {} : { url: database }) });
  closers.push(() => store.close());
  return { live, shelf, telemetry, keeper, store };
}

/** A run accepted before the past is settled would be taken for one that an earlier process left open. */
async function settlePast(gateway: Gateway): Promise<void> {
  const interrupted = await gateway.keeper.ready;
  if (interrupted > 0) gateway.log.warn({ interrupted }, 'runs of an earlier process were closed as interrupted');
  await settleEarlierRuns(gateway);
  await gateway.budgets.open();
  await gateway.audit.open();
}

/** By which others learn what happens here: webhooks, and the audit log. */
function toldOutside(
  config: Config,
  { home, store, keeper, log, telemetry }: Pick<Gateway, 'home' | 'store' | 'keeper' | 'log' | 'telemetry'>,
  closers: Closers,
): Pick<Gateway, 'webhooks' | 'audit'> {
  const { text: clean } = redactor(config.recording.redact, secretValues(config, home.token));
  const webhooks = new Webhooks({ store, log, node: home.nodeId, hooks: config.webhooks, clean });
  closers.push(() => webhooks.close());
  telemetry.watch.add(failureWatcher(webhooks));
  return { webhooks, audit: new AuditLog({ store, keeper, log, node: home.nodeId, clean }) };
}

/** Webhooks and browsers hear what the last process had no time to tell, and all that comes. */
async function tellOutside(gateway: Gateway, closers: Closers): Promise<void> {
  const { webhooks, budgetNotices, budgets } = gateway;
  budgetNotices.remind(budgets.ledger.accounts.values());
  const occasions = new OccasionWatch(gateway, webhooks);
  closers.push(() => occasions.close());
  await occasions.open();
  webhooks.open();
  await openNotes(gateway, closers);
}

/** Opens a port for metrics, where one is configured. */
async function serveMetrics(gateway: Gateway, closers: Closers): Promise<Gateway> {
  const { host, port } = gateway.config.metrics;
  if (port === undefined) return gateway;
  const metrics = await openMetricsPort({ host, port }, () => metricsReply(gateway));
  closers.push(() => metrics.close());
  gateway.log.info({ url: metrics.url }, 'metrics have a port of their own');
  return gateway;
}

/** Lets callers in. */
async function admit({ gateway, closing }: Assembled, { home, member }: ServerOptions, closers: Closers): Promise<Gateway> {
  const own = member === undefined ? undefined : await openOwnDoor(gateway, member, closers);
  const listener = await listen(gateway);
  closers.push(() => listener.close());
  await serveMetrics(gateway, closers);
  closers.push(() => {
    gateway.sessions.endFeeds();
    closing.abort();
  });
  gateway.url = listener.url;
  gateway.ownUrl = own ?? listener.url;
  const tell = (certificate: string | undefined): void =>
    home.writeAddress({
      ...(own === undefined ? { url: gateway.url } : { url: own, shared: gateway.url }),
      pid: process.pid,
      ...(certificate === undefined || own !== undefined ? {} : { certificate }),
    });
  tell(listener.certificate);
  closers.push(() => closeRuns(gateway));
  closers.push(() => home.removeAddress());
  closers.push(listener.watchCertificate(tell));
  return gateway;
}

/** A door of loopback for this process alone: for its own coding agents, the commands of its home and the other processes. */
async function openOwnDoor(gateway: Gateway, { ownPort }: Membership, closers: Closers): Promise<string> {
  const config = onLoopback(gateway.config);
  const at = (port: number): Promise<Listener> => listen(gateway, { ...config, server: { ...config.server, port } });
  // Another program may have taken the port while this process was away.
  const listener = await at(ownPort).catch((error: unknown) => {
    if (!AbpError.is(error) || error.code !== 'conflict') throw error;
    return at(0);
  });
  closers.push(() => listener.close());
  return listener.url;
}

function keyOfRun(live: LiveRuns, hex: string): string | null {
  const run = parseRunId(hex);
  return (run === undefined ? undefined : live.keyOf(run)) ?? null;
}
