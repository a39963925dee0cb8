import { parentPort, workerData } from 'node:worker_threads';
import { learnSecrets } from '../../base/redact.ts';
import type { RunId } from '../../contract/run-id.ts';
import { type Home, openHome } from '../../home/home.ts';
import { openStore } from '../../store/database.ts';
import { entriesOfKind } from '../../store/receipts/chain-lines.ts';
import type { Store } from '../../store/store.ts';
import { BodyKeeper } from '../bodies/keeper.ts';
import { type Chain, openChain } from '../seal/chain.ts';
import { HeadWatch } from '../seal/head-watch.ts';
import { headFile, keepHead } from '../seal/kept-head.ts';
import { protectSealKeys, sealKeysFolder } from '../seal/seal-keys.ts';
import { Followers } from '../usage/followers.ts';
import { countEarlierLateEnds } from '../usage/late-usage.ts';
import type { SealedUsage, Spent } from '../usage/sealed-usage.ts';
import { Drain } from './drain.ts';
import { closeInterrupted } from './interrupted.ts';
import { IDLE, type KeeperData, type KeeperOrder, type KeeperReport, PENDING, URGENT } from './keeper-protocol.ts';
import { KeeperTasks } from './keeper-tasks.ts';
import type { LostNodes } from './lost-nodes.ts';
import { TableParts } from './table-parts.ts';
import { Upkeep } from './upkeep.ts';

/** How long facts gather before a batch, unless somebody waits for one: long enough that a short run is one row instead of two. */
const GATHER_MS = 50;
const RETRY_MS = 1000;

const data = workerData as KeeperData; // given by startKeeper alone
const signal = new Int32Array(data.signal);
let stopping = false;

/** Documents are a few kilobytes: of the usual pool of 8 KB nearly each would take a new one, which the garbage collector has to count. */
Buffer.poolSize = 256 * 1024;

function report(message: KeeperReport): void {
  parentPort?.postMessage(message);
}

async function pause(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms));
}

/** Waits until something was appended and, unless that is urgent, until more has gathered. */
async function nextWork(): Promise<void> {
  await whileSignal(IDLE, 1000);
  await whileSignal(PENDING, GATHER_MS);
  Atomics.store(signal, 0, IDLE);
}

async function whileSignal(state: number, ms: number): Promise<void> {
  const wait = Atomics.waitAsync(signal, 0, state, ms);
  if (wait.async) await wait.value;
}

/** Does the work; what fails is said and tried again. Nothing is lost: facts stay in the journal. */
async function attempted(work: () => Promise<void>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    report({ kind: 'stalled', message: error instanceof Error ? error.message : String(error) });
    return false;
  }
}

function listen(tasks: KeeperTasks): void {
  parentPort?.on('message', (order: KeeperOrder) => {
    if (order.kind === 'stop') stopping = true;
    else if (order.kind === 'learn') {
      learnSecrets(order.secrets);
      report({ kind: 'done', id: order.id, result: order.secrets.length });
    } else tasks.add(order);
    Atomics.store(signal, 0, URGENT);
    Atomics.notify(signal, 0);
  });
}

/** On a database of its own a node is alone, and loads nothing for others. */
async function nodesBeside(store: Store, chain: Chain): Promise<LostNodes | undefined> {
  if (store.kind === 'sqlite') return undefined;
  const { LostNodes } = await import('./lost-nodes.ts');
  const onClosed = (node: string, runs: readonly RunId[]): void => {
    report({ kind: 'closed-for', node, runs });
    report({ kind: 'settled', runs });
  };
  return new LostNodes({ store, chain, timing: data.nodes, prices: data.prices, onClosed });
}

/** Says what is known of cuts in the chain; the function that it gives looks again. */
async function cutTeller(store: Store, chain: Chain): Promise<() => void> {
  let told = false;
  const tell = (): void => {
    if (chain.cut && !told) report({ kind: 'chain', state: 'cut' });
    told = chain.cut;
  };
  tell();
  if (!chain.cut && (await entriesOfKind(store, chain.number, 'cut')).length > 0) report({ kind: 'chain', state: 'was-cut' });
  return tell;
}

async function headWatch(store: Store, chain: Chain, keysFolder: string): Promise<HeadWatch> {
  const file = await headFile(store, keysFolder);
  return new HeadWatch(store, chain, (document) => {
    keepHead(file, keysFolder, document);
    report({ kind: 'head', document });
  });
}

function bodyKeeper(store: Store, home: Home): BodyKeeper {
  return new BodyKeeper({
    store,
    home,
    keeping: data.keeping,
    onFault: (message) => report({ kind: 'bodies-fault', message }),
    onBucket: (state) => report({ kind: 'bucket', state }),
    onBytes: (bytes) => report({ kind: 'recorded', bytes }),
  });
}

/** Late ends of before sums of usage went by them are counted once. */
function earlierLateEnds(store: Store, chain: Chain): () => Promise<void> {
  let counted = false;
  return async () => {
    if (!counted) await countEarlierLateEnds(store, chain.number);
    counted = true;
  };
}

interface Upkept {
  readonly store: Store;
  readonly chain: Chain;
  readonly parts: TableParts;
  readonly tasks: KeeperTasks;
  readonly heads: HeadWatch;
  readonly followers: Followers;
  readonly nodes: LostNodes | undefined;
}

/** The keeper's work beside the draining of facts: `ahead` of the first batch, too, `upkeep` after batches only. */
function upkeepOf({ store, chain, parts, tasks, heads, followers, nodes }: Upkept): { readonly ahead: Upkeep; readonly upkeep: Upkeep } {
  const onFault = (message: string): void => report({ kind: 'upkeep-fault', message });
  const ahead = [
    { failed: 'parts of tables were not made', run: () => parts.look() },
    { failed: 'late ends were not counted', run: earlierLateEnds(store, chain) },
  ];
  const afterwards = [
    { failed: 'a task, or what retention removes', run: () => tasks.run() },
    { failed: 'the head of the chain was not told', run: () => heads.look() },
    { failed: 'usage was not summed', run: () => followers.look() },
    { failed: 'lost nodes were not looked for', run: async () => nodes?.look() },
  ];
  return { ahead: new Upkeep(ahead, onFault), upkeep: new Upkeep(afterwards, onFault) };
}

interface Round {
  readonly tasks: KeeperTasks;
  readonly ahead: Upkeep;
  readonly upkeep: Upkeep;
}

/** Drains facts first, and does other work once they are in the database. Work that failed waits for its next try, not in a loop. */
async function round(drainOnce: () => Promise<boolean>, { tasks, ahead, upkeep }: Round): Promise<boolean> {
  if (!tasks.isBehind || upkeep.isFaulty) await nextWork();
  const done = await drainOnce();
  if (!done) return false;
  await ahead.turn();
  await upkeep.turn();
  return true;
}

async function keep(): Promise<void> {
  const home = openHome({ path: data.homePath });
  const store = await openStore({ home, ...(data.databaseUrl === undefined ? {} : { url: data.databaseUrl }) });
  const origin = { node: home.nodeId, version: data.version };
  const keysFolder = sealKeysFolder(home.path);
  protectSealKeys(keysFolder, data.keySecret);
  const chain = await openChain(store, home.nodeId, keysFolder);
  const tellCut = await cutTeller(store, chain);
  const bodies = bodyKeeper(store, home);
  const onSettled = (runs: readonly RunId[], spent: readonly Spent[]): void => report({ kind: 'settled', runs, spent });
  let damaged = false;
  const onDamage = (segment: string, bytes: number): void => {
    damaged = true;
    report({ kind: 'damaged', segment, bytes });
  };
  const followers = new Followers(store, chain.number);
  const onSealed = (sealed: SealedUsage): void => followers.note(sealed);
  const { journalSince } = data;
  const drain = new Drain({ store, folder: home.journalFolder, origin, chain, bodies, journalSince, onSealed, onSettled, onDamage });
  const heads = await headWatch(store, chain, keysFolder);
  const parts = new TableParts(store, data.retentionDays ?? data.deletionDays);
  const { retentionDays, deletionDays } = data;
  const tasks = new KeeperTasks({ store, parts, chain, bodies, followers, keysFolder, report, retentionDays, deletionDays });
  const drainOnce = (): Promise<boolean> =>
    attempted(async () => {
      await drain.all();
    });
  const nodes = await nodesBeside(store, chain);
  listen(tasks);
  // Before the first look into the past: nodes that take this one for lost learn that it is back.
  await nodes?.start();
  const { ahead, upkeep } = upkeepOf({ store, chain, parts, tasks, heads, followers, nodes });
  await ahead.turn();
  let drained = await drainOnce();
  for (; !drained && !stopping; drained = await drainOnce()) await pause(RETRY_MS);
  await bodies.settlePast();
  // The runs that an earlier process left open are only known once all its facts have arrived.
  if (drained)
    report({
      kind: 'ready',
      interrupted: await closeInterrupted(store, chain, origin, { now: Date.now(), bodies, damaged, prices: data.prices }),
    });
  let failed = false;
  while (!stopping) {
    const done = await round(drainOnce, { tasks, ahead, upkeep });
    await bodies.tidy();
    bodies.upload();
    tellCut();
    if (done && failed) report({ kind: 'resumed' });
    failed = !done;
    if (failed) await pause(RETRY_MS);
  }
  await drainOnce();
  await attempted(() => heads.publish());
  await attempted(async () => nodes?.stop());
  await bodies.close();
  await store.close();
  report({ kind: 'stopped' });
  parentPort?.close();
}

await keep();
