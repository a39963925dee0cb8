import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { siblingModule } from '../base/module-url.ts';
import type { RunId } from '../contract/run-id.ts';
import type { Fact } from './facts.ts';
import { Journal } from './journal.ts';
import { IDLE, type KeeperData, type KeeperReport, PENDING, URGENT } from './keeper-protocol.ts';
import { type Step, Turn } from './turn.ts';

/** Facts live for one batch; Node's default young generation would let twenty megabytes of dead ones stay resident. */
const YOUNG_MB = 4;

export interface KeeperOptions {
  readonly homePath: string;
  readonly journalFolder: string;
  readonly databaseUrl?: string;
  readonly version: string;
  /** The database does not take facts; they stay in the journal until it does. */
  readonly onStalled: (message: string) => void;
  /** Rows of these runs have been written. */
  readonly onSettled: (runs: readonly RunId[]) => void;
}

/** The journal of this process and the thread that drains it. */
export interface Keeper {
  /** Written when it returns. */
  append(fact: Fact): void;
  /** Does the step of a call that begins, together with the others of this turn of the event loop. */
  opening(step: Step): void;
  /** Likewise for a call that ends. */
  closing(step: Step): void;
  /** Watches for the next write of the run's receipt. */
  watch(run: RunId): SettleWatch;
  /** Why facts are not moving, or undefined. */
  readonly stalled: string | undefined;
  /** Runs that an earlier process left open and that were closed as interrupted; resolves once the past is settled. */
  readonly ready: Promise<number>;
  close(): Promise<void>;
}

/** A wait for the receipt of a run. Whoever has one ends it. */
export interface SettleWatch {
  /** Resolves when the receipt has been written since the watch began, or when the time is over. */
  changed(ms: number): Promise<void>;
  end(): void;
}

/** Starts the keeper thread. Facts can be appended at once, before it is ready. */
export function startKeeper(options: KeeperOptions): Keeper {
  const shared = new SharedArrayBuffer(4);
  const signal = new Int32Array(shared);
  const data: KeeperData = {
    homePath: options.homePath,
    ...(options.databaseUrl === undefined ? {} : { databaseUrl: options.databaseUrl }),
    version: options.version,
    signal: shared,
  };
  const worker = new Worker(siblingModule(import.meta.url, './keeper-thread'), {
    workerData: data,
    env: threadEnvironment(),
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
  });
  return new ThreadKeeper(worker, signal, options);
}

/** A thread does not inherit the compile cache of its process; without it the thread compiles everything again, at each start. */
function threadEnvironment(): NodeJS.ProcessEnv {
  const cache = getCompileCacheDir();
  // Node appends a folder of its version to the one it is told.
  return cache === undefined ? process.env : { ...process.env, NODE_COMPILE_CACHE: dirname(cache) };
}

class ThreadKeeper implements Keeper {
  readonly #worker: Worker;
  readonly #signal: Int32Array;
  readonly #journal: Journal;
  readonly #turn: Turn;
  readonly #options: KeeperOptions;
  readonly #waiters = new Map<RunId, Set<() => void>>();
  readonly ready: Promise<number>;
  #markReady: (interrupted: number) => void = () => undefined;
  /** The thread has ended, or has nothing left to do. */
  readonly #stopped = Promise.withResolvers<void>();
  #stalled: string | undefined;

  constructor(worker: Worker, signal: Int32Array, options: KeeperOptions) {
    this.#worker = worker;
    this.#signal = signal;
    this.#journal = new Journal(options.journalFolder, (facts) => this.#wake(facts));
    this.#turn = new Turn(this.#journal);
    this.#options = options;
    this.ready = new Promise((resolve, reject) => {
      this.#markReady = resolve;
      worker.once('error', reject);
    });
    // A rejection is also reported as a stall; whoever awaits `ready` still sees it.
    this.ready.catch((error: unknown) => this.#stall(error instanceof Error ? error.message : String(error)));
    worker.on('message', (message: KeeperReport) => this.#hear(message));
    worker.on('error', (error) => this.#stall(error.message));
    worker.once('exit', () => this.#stopped.resolve());
  }

  get stalled(): string | undefined {
    return this.#stalled;
  }

  append(fact: Fact): void {
    this.#journal.append(fact);
  }

  opening(step: Step): void {
    this.#turn.open(step);
  }

  closing(step: Step): void {
    this.#turn.close(step);
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

  async close(): Promise<void> {
    this.#journal.close();
    this.#worker.postMessage('stop');
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
        this.#options.onSettled(message.runs);
        for (const run of message.runs) for (const wake of this.#waiters.get(run) ?? []) wake();
        break;
      case 'stalled':
        this.#stall(message.message);
        break;
      case 'stopped':
        this.#stopped.resolve();
        break;
    }
  }

  #stall(message: string): void {
    if (this.#stalled !== message) this.#options.onStalled(message);
    this.#stalled = message;
  }
}
