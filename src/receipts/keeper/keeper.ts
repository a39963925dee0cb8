import { Worker } from 'node:worker_threads';
import { ownModule } from '../../base/own-files.ts';
import { threadStart } from '../../base/threads.ts';
import { AbpError } from '../../contract/errors.ts';
import type { RunId } from '../../contract/run-id.ts';
import type { BodiesAside } from '../bodies/bodies-aside.ts';
import { BodyJournal } from '../bodies/journal.ts';
import { DEFAULT_KEEPING, keptRedactor } from '../bodies/keeper.ts';
import type { Tape } from '../bodies/tape.ts';
import type { BucketState } from '../bodies/uploads.ts';
import type { Fact } from '../journal/facts.ts';
import { Journal } from '../journal/journal.ts';
import type { RemovalOrder } from '../remove.ts';
import { damagedParts } from './gaps.ts';
import {
  type ChainState,
  IDLE,
  type KeeperData,
  type KeeperOptions,
  type KeeperOrder,
  type KeeperReport,
  type KeeperTask,
  PENDING,
  type TaskResults,
  URGENT,
} from './keeper-protocol.ts';
import { NODE_TIMING } from './node-watch.ts';

/** Facts live for one batch. A smaller young generation copies them about, a larger one (48 MB is usual) keeps the dead resident. */
const YOUNG_MB = 12;

/** The journal of this process and the thread that drains it. */
export interface Keeper {
  /** Written when it returns, unless facts are being gathered. */
  append(fact: Fact): void;
  /** From here on facts and bodies wait for `flush`, which makes one write of them. */
  gather(): void;
  /** Throws when the beginning of a run is among what has gathered and cannot be written. */
  flush(): void;
  /** Where the bodies of a run go; undefined while they cannot be kept. */
  tape(run: RunId, started: number): Tape | undefined;
  /** Writes large bodies of a run that has not begun; undefined while they cannot be kept. */
  putAside(bodies: readonly Buffer[]): Promise<BodiesAside | undefined>;
  /** Resolves once everything that is in the journal now has reached the database. */
  settled(): Promise<void>;
  /** Removes the recorded bodies of runs; how many had any. */
  eraseBodies(runs: readonly RunId[]): Promise<number>;
  /** Watches for the next write of the run's receipt. */
  watch(run: RunId): SettleWatch;
  /** Calls the listener whenever receipts have been written; the function ends that. */
  listen(onSettled: () => void): () => void;
  /** Takes these secrets, too, out of all that is kept once it has resolved. */
  learn(secrets: readonly string[]): Promise<void>;
  /** Seals with a new key from now on. */
  rotate(): Promise<TaskResults['rotate']>;
  /** Moves records of the audit log that have ended into the chain. */
  sealAudit(): Promise<number>;
  /** Takes the contents of receipts away; the runs whose receipts are stubs now. */
  remove(order: RemovalOrder): Promise<TaskResults['remove']>;
  /** Why no run can begin, or undefined: facts cannot be written. */
  readonly blocked: string | undefined;
  /** Whether parts of the journal were set aside because they could not be read, and nobody has looked at them yet. */
  readonly damaged: boolean;
  /** Whether the chain is whole. */
  readonly chain: ChainState;
  /** How far the bucket of bodies is behind; undefined where there is none. */
  readonly bucket: BucketState | undefined;
  /** Space that recorded bodies take on the disk, within a hundredth; undefined until they were counted. */
  readonly recordedBytes: number | undefined;
  /** Why facts are not moving, or undefined. */
  readonly stalled: string | undefined;
  /** Runs that an earlier process left open and that were closed as interrupted; resolves once the past is settled. */
  readonly ready: Promise<number>;
  close(): Promise<void>;
}

/** A wait for the receipt of a run. The caller who began it ends it. */
interface SettleWatch {
  /** Resolves when the receipt has been written since the watch began, or when the time is over. */
  changed(ms: number): Promise<void>;
  end(): void;
}

/** Starts the keeper thread. Facts can be appended at once, before it is ready. */
export function startKeeper(options: KeeperOptions): Keeper {
  const shared = new SharedArrayBuffer(4);
  const signal = new Int32Array(shared);
  const journalSince = Date.now();
  const data: KeeperData = {
    homePath: options.homePath,
    ...(options.databaseUrl === undefined ? {} : { databaseUrl: options.databaseUrl }),
    version: options.version,
    ...(options.keySecret === undefined ? {} : { keySecret: options.keySecret }),
    journalSince,
    ...(options.retentionDays === undefined ? {} : { retentionDays: options.retentionDays }),
    ...(options.deletionDays === undefined ? {} : { deletionDays: options.deletionDays }),
    keeping: options.keeping ?? DEFAULT_KEEPING,
    prices: options.prices ?? {},
    nodes: options.nodes ?? NODE_TIMING,
    signal: shared,
  };
  const worker = new Worker(ownModule('receipts/keeper/keeper-thread'), {
    workerData: data,
    ...threadStart(),
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
  });
  return new ThreadKeeper(worker, signal, { ...options, journalSince });
}

class ThreadKeeper implements Keeper {
  readonly #worker: Worker;
  readonly #signal: Int32Array;
  readonly #journal: Journal;
  readonly #bodies: BodyJournal;
  readonly #options: KeeperOptions;
  readonly #waiters = new Map<RunId, Set<() => void>>();
  readonly #listeners = new Set<() => void>();
  readonly #tasks = new Map<number, PromiseWithResolvers<TaskResults[keyof TaskResults]>>();
  #lastTask = 0;
  #ended = false;
  readonly ready: Promise<number>;
  #markReady: (interrupted: number) => void = () => undefined;
  /** The thread has ended, or has nothing left to do. */
  readonly #stopped = Promise.withResolvers<void>();
  #stalled: string | undefined;
  #chain: ChainState = 'ok';
  #blocked: string | undefined;
  #bucket: BucketState | undefined;
  #recordedBytes: number | undefined;

  constructor(worker: Worker, signal: Int32Array, options: KeeperOptions & { readonly journalSince: number }) {
    this.#worker = worker;
    this.#signal = signal;
    this.#journal = new Journal(options.journalFolder, {
      startedAt: options.journalSince,
      onWritten: (facts) => this.#wake(facts),
      onFault: (message) => this.#block(message),
      redactor: keptRedactor(options.keeping ?? DEFAULT_KEEPING),
    });
    this.#bodies = new BodyJournal({ folder: options.journalFolder, onFault: (message) => options.onBodiesFault?.(message) });
    this.#options = options;
    this.#bucket = options.keeping?.bucket === undefined ? undefined : { waiting: 0 };
    this.ready = new Promise((resolve, reject) => {
      this.#markReady = resolve;
      worker.once('error', reject);
    });
    // A rejection is also reported as a stall; a caller who awaits `ready` still sees it.
    this.ready.catch((error: unknown) => this.#stall(error instanceof Error ? error.message : String(error)));
    worker.on('message', (message: KeeperReport) => this.#hear(message));
    worker.on('error', (error) => this.#stall(error.message));
    worker.once('exit', () => {
      this.#ended = true;
      this.#stopped.resolve();
      for (const task of this.#tasks.values()) task.reject(hasEnded());
    });
  }

  get blocked(): string | undefined {
    return this.#blocked;
  }

  get damaged(): boolean {
    return damagedParts(this.#options.journalFolder).length > 0;
  }

  get chain(): ChainState {
    return this.#chain;
  }

  get bucket(): BucketState | undefined {
    return this.#bucket;
  }

  get recordedBytes(): number | undefined {
    return this.#recordedBytes;
  }

  get stalled(): string | undefined {
    return this.#stalled;
  }

  append(fact: Fact): void {
    this.#journal.append(fact);
    this.#options.onFact?.(fact);
  }

  gather(): void {
    this.#journal.gather();
    this.#bodies.gather();
  }

  flush(): void {
    // Bodies first: a run that the journal calls ended has all of them.
    try {
      this.#bodies.flush();
    } finally {
      this.#journal.flush();
    }
  }

  tape(run: RunId, started: number): Tape | undefined {
    return this.#bodies.tape(run, started);
  }

  putAside(bodies: readonly Buffer[]): Promise<BodiesAside | undefined> {
    return this.#bodies.putAside(bodies);
  }

  async settled(): Promise<void> {
    // A task is done after the batch that is due.
    await this.eraseBodies([]);
  }

  async eraseBodies(runs: readonly RunId[]): Promise<number> {
    if (runs.length > 0) this.#bodies.rotate();
    return await this.#ask<'erase-bodies'>({ kind: 'erase-bodies', runs });
  }

  watch(run: RunId): SettleWatch {
    let timer: NodeJS.Timeout | undefined;
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiters = this.#waiters.get(run) ?? new Set();
    this.#waiters.set(run, waiters);
    waiters.add(resolve);
    this.#hurry();
    return {
      changed: (ms) => {
        timer = setTimeout(resolve, ms);
        return promise;
      },
      end: () => {
        clearTimeout(timer);
        waiters.delete(resolve);
        if (waiters.size === 0 && this.#waiters.get(run) === waiters) this.#waiters.delete(run);
      },
    };
  }

  listen(onSettled: () => void): () => void {
    this.#listeners.add(onSettled);
    return () => this.#listeners.delete(onSettled);
  }

  async rotate(): Promise<TaskResults['rotate']> {
    return await this.#ask<'rotate'>({ kind: 'rotate' });
  }

  async sealAudit(): Promise<number> {
    return await this.#ask<'audit'>({ kind: 'audit' });
  }

  async remove(order: RemovalOrder): Promise<TaskResults['remove']> {
    this.#journal.rotate();
    return await this.#ask<'remove'>({ kind: 'remove', ...order });
  }

  async #ask<K extends keyof TaskResults>(task: Extract<KeeperTask, { kind: K }>): Promise<TaskResults[K]> {
    if (this.#ended) throw hasEnded();
    return (await this.#answered((id) => ({ kind: 'task', id, task }))) as TaskResults[K]; // what the thread answers to such a task
  }

  async learn(secrets: readonly string[]): Promise<void> {
    if (!this.#ended) await this.#answered((id) => ({ kind: 'learn', id, secrets }));
  }

  async #answered(order: (id: number) => KeeperOrder): Promise<TaskResults[keyof TaskResults]> {
    this.#lastTask += 1;
    const answer = Promise.withResolvers<TaskResults[keyof TaskResults]>();
    this.#tasks.set(this.#lastTask, answer);
    this.#tell(order(this.#lastTask));
    return await answer.promise;
  }

  #tell(order: KeeperOrder): void {
    this.#worker.postMessage(order);
  }

  async close(): Promise<void> {
    this.#bodies.close();
    this.#journal.close();
    this.#tell({ kind: 'stop' });
    await this.#stopped.promise;
    await this.#worker.terminate();
  }

  #wake(facts: readonly Fact[]): void {
    if (this.#waiters.size > 0 && facts.some((fact) => this.#waiters.has(fact.run))) this.#hurry();
    else if (Atomics.compareExchange(this.#signal, 0, IDLE, PENDING) === IDLE) Atomics.notify(this.#signal, 0);
  }

  /** Somebody waits: the keeper does not let facts gather. */
  #hurry(): void {
    if (Atomics.exchange(this.#signal, 0, URGENT) !== URGENT) Atomics.notify(this.#signal, 0);
  }

  #hear(message: KeeperReport): void {
    switch (message.kind) {
      case 'ready':
        this.#stalled = undefined;
        this.#markReady(message.interrupted);
        break;
      case 'settled':
        this.#stalled = undefined;
        this.#options.onSettled(message.runs, message.spent ?? []);
        for (const run of message.runs) for (const wake of this.#waiters.get(run) ?? []) wake();
        for (const listener of this.#listeners) listener();
        break;
      case 'head':
        this.#options.onHead?.(message.document);
        break;
      case 'erase-asked':
        this.eraseBodies(message.runs).catch((error: unknown) => this.#options.onBodiesFault?.(`bodies were not erased: ${String(error)}`));
        break;
      case 'upkeep-fault':
        this.#options.onUpkeepFault?.(message.message);
        break;
      case 'bodies-fault':
        this.#options.onBodiesFault?.(message.message);
        break;
      case 'bucket':
        this.#bucket = message.state;
        this.#options.onBucket?.(message.state);
        break;
      case 'recorded':
        this.#recordedBytes = message.bytes;
        break;
      case 'damaged':
        this.#options.onDamaged?.(message.segment, message.bytes);
        break;
      case 'chain':
        this.#chain = message.state;
        if (message.state === 'cut') this.#options.onChainCut?.();
        break;
      case 'removed':
        this.#options.onRemoved?.(message.runs);
        break;
      case 'closed-for':
        this.#options.onClosedFor?.(message.node, message.runs);
        break;
      case 'done':
      case 'refused':
        this.#endTask(message);
        break;
      case 'resumed':
      case 'stalled':
        this.#stall(message.kind === 'stalled' ? message.message : undefined);
        break;
      case 'stopped':
        this.#stopped.resolve();
        break;
    }
  }

  #endTask(message: Extract<KeeperReport, { kind: 'done' | 'refused' }>): void {
    const task = this.#tasks.get(message.id);
    this.#tasks.delete(message.id);
    if (message.kind === 'done') task?.resolve(message.result);
    else task?.reject(new AbpError('conflict', message.message));
  }

  #block(message: string | undefined): void {
    if (message !== undefined && this.#blocked === undefined) this.#options.onBlocked?.(message);
    if (message === undefined && this.#blocked !== undefined) this.#options.onUnblocked?.(this.#blocked);
    this.#blocked = message;
  }

  #stall(message: string | undefined): void {
    if (message !== undefined && this.#stalled !== message) this.#options.onStalled(message);
    this.#stalled = message;
  }
}

function hasEnded(): AbpError {
  return new AbpError('internal', 'the keeper of receipts has ended');
}
