import { Worker } from 'node:worker_threads';
import { threadStart } from '../threads.ts';
import { FairShare } from './fair-share.ts';

export interface ThreadsOptions {
  readonly module: URL;
  readonly threads: number;
  /** Jobs that may wait; each stays in memory meanwhile. */
  readonly mostWaiting: number;
  /** A job that needs more ends its thread, not the process. */
  readonly heapMb: number;
  /** A job that takes longer ends its thread, so that no input holds it for ever. */
  readonly deadlineMs: number;
}

/** A job was not done: there was no room for it, or the thread that had it ended. */
export class ThreadFailure extends Error {
  readonly kind: 'full' | 'share' | 'closed' | 'ended';

  constructor(kind: ThreadFailure['kind'], reason: string) {
    super(reason);
    this.kind = kind;
  }
}

/** A message to a thread. Buffers in `transfer` change hands without a copy. */
export interface Posted<Job> {
  readonly job: Job;
  readonly transfer?: readonly ArrayBuffer[];
}

interface Task<Job, Outcome> {
  readonly caller: string;
  readonly post: () => Posted<Job> | Promise<Posted<Job>>;
  readonly result: PromiseWithResolvers<Outcome>;
}

interface Busy<Job, Outcome> {
  readonly task: Task<Job, Outcome>;
  readonly deadline: NodeJS.Timeout;
}

/**
 * Does on other threads what would keep every other call waiting. Threads start with the first job. Of the callers that wait, the one
 * with the fewest jobs under way is next, so that nobody waits behind all that somebody else has sent.
 */
export class Threads<Job, Outcome> {
  readonly #options: ThreadsOptions;
  readonly #idle: Worker[] = [];
  readonly #busy = new Map<Worker, Busy<Job, Outcome>>();
  readonly #waiting: Task<Job, Outcome>[] = [];
  readonly #share: FairShare;
  #closed = false;

  constructor(options: ThreadsOptions) {
    this.#options = options;
    this.#share = new FairShare(options.mostWaiting + options.threads);
  }

  /** `post` is called when a thread has time for the job. Rejects with a `ThreadFailure`. */
  async run(caller: string, post: Task<Job, Outcome>['post']): Promise<Outcome> {
    if (this.#closed) throw new ThreadFailure('closed', 'the server is closing');
    const refusal = this.#share.refusal(caller);
    if (refusal !== undefined) throw new ThreadFailure(refusal, 'too many jobs wait for a thread');
    this.#share.take(caller);
    try {
      const task: Task<Job, Outcome> = { caller, post, result: Promise.withResolvers() };
      this.#waiting.push(task);
      this.#next();
      return await task.result.promise;
    } finally {
      this.#share.release(caller);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const { result } of this.#waiting.splice(0)) result.reject(new ThreadFailure('closed', 'the server is closing'));
    await Promise.all([...this.#idle.splice(0), ...this.#busy.keys()].map((worker) => worker.terminate()));
  }

  #next(): void {
    const worker = this.#waiting.length === 0 || this.#closed ? undefined : (this.#idle.pop() ?? this.#start());
    const task = worker === undefined ? undefined : this.#take();
    if (worker === undefined || task === undefined) return;
    const { deadlineMs } = this.#options;
    const deadline = setTimeout(() => this.#giveUp(worker, `it took longer than ${deadlineMs / 1000} s`), deadlineMs).unref();
    this.#busy.set(worker, { task, deadline });
    // A process that waits for nothing else must not end before its answer.
    worker.ref();
    const post = ({ job, transfer = [] }: Posted<Job>): void => worker.postMessage(job, transfer);
    const posted = task.post();
    if (posted instanceof Promise) posted.then(post).catch((error: unknown) => this.#giveUp(worker, String(error)));
    else post(posted);
  }

  /** The waiting job whose caller has the fewest under way. */
  #take(): Task<Job, Outcome> | undefined {
    const underWay = (caller: string): number => [...this.#busy.values()].filter(({ task }) => task.caller === caller).length;
    let chosen = 0;
    let least = Number.POSITIVE_INFINITY;
    for (const [at, { caller }] of this.#waiting.entries()) {
      const count = underWay(caller);
      if (count < least) [chosen, least] = [at, count];
      if (least === 0) break;
    }
    return this.#waiting.splice(chosen, 1)[0];
  }

  #start(): Worker | undefined {
    if (this.#busy.size >= this.#options.threads) return undefined;
    const worker = new Worker(this.#options.module, {
      ...threadStart(),
      resourceLimits: { maxOldGenerationSizeMb: this.#options.heapMb },
    });
    worker.on('message', (outcome: Outcome) => this.#finished(worker, outcome));
    worker.on('error', (error) => this.#lost(worker, error.message));
    worker.on('exit', () => this.#lost(worker, 'it exited'));
    // After the listeners: adding one makes the thread keep the process alive again.
    worker.unref();
    return worker;
  }

  #finished(worker: Worker, outcome: Outcome): void {
    const busy = this.#busy.get(worker);
    if (busy === undefined) return;
    clearTimeout(busy.deadline);
    this.#busy.delete(worker);
    worker.unref();
    this.#idle.push(worker);
    busy.task.result.resolve(outcome);
    this.#next();
  }

  #giveUp(worker: Worker, reason: string): void {
    this.#lost(worker, reason);
    void worker.terminate();
  }

  /** Only the job that the thread was at is lost; the next one gets a new thread. */
  #lost(worker: Worker, reason: string): void {
    const busy = this.#busy.get(worker);
    clearTimeout(busy?.deadline);
    const idle = this.#idle.indexOf(worker);
    if (idle !== -1) this.#idle.splice(idle, 1);
    this.#busy.delete(worker);
    busy?.task.result.reject(new ThreadFailure('ended', reason));
    this.#next();
  }
}
