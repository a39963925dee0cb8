import { parentPort, workerData } from 'node:worker_threads';
import { openStore } from '../store/database.ts';
import { openHome } from '../store/home.ts';
import { Drain } from './drain.ts';
import { closeInterrupted } from './interrupted.ts';
import { IDLE, type KeeperData, type KeeperReport, PENDING, URGENT } from './keeper-protocol.ts';

/** How long facts gather before a batch, unless somebody waits for one: long enough that a short run is one row instead of two. */
const GATHER_MS = 50;
const RETRY_MS = 1000;

const data = workerData as KeeperData; // given by startKeeper alone
const signal = new Int32Array(data.signal);
let stopping = false;

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

async function drainOnce(drain: Drain): Promise<boolean> {
  try {
    const runs = await drain.all();
    if (runs.length > 0) report({ kind: 'settled', runs });
    return true;
  } catch (error) {
    // Nothing is lost: the facts stay in the journal and the batch is tried again.
    report({ kind: 'stalled', message: error instanceof Error ? error.message : String(error) });
    return false;
  }
}

async function keep(): Promise<void> {
  const home = openHome({ path: data.homePath });
  const store = await openStore({ home, ...(data.databaseUrl === undefined ? {} : { url: data.databaseUrl }) });
  const origin = { node: home.nodeId, version: data.version };
  const drain = new Drain(store, home.journalFolder, origin);
  parentPort?.on('message', () => {
    stopping = true;
    Atomics.store(signal, 0, URGENT);
    Atomics.notify(signal, 0);
  });
  let drained = await drainOnce(drain);
  for (; !drained && !stopping; drained = await drainOnce(drain)) await pause(RETRY_MS);
  // What an earlier process left open is only known once all its facts have arrived.
  if (drained) report({ kind: 'ready', interrupted: await closeInterrupted(store, origin, Date.now()) });
  while (!stopping) {
    await nextWork();
    if (!(await drainOnce(drain))) await pause(RETRY_MS);
  }
  await drainOnce(drain);
  await store.close();
  report({ kind: 'stopped' });
  parentPort?.close();
}

await keep();
