import { Worker } from 'node:worker_threads';
import { siblingModule, threadEnvironment } from '../../base/threads.ts';
import { AbpError } from '../../contract/errors.ts';
import type { FidelityEntry } from '../../contract/negotiation.ts';
import type { Observed } from '../../dialects/dialect.ts';
import type { Prepared, PrepareInput } from '../../mapping/prepare.ts';
import type { PatchedText, PatchTextInput } from '../../mapping/thinking-override.ts';
import { arrived, type Job, type NamedTranslation, named, namedPatch, type Outcome, type Work } from './protocol.ts';

/** Below this size the work takes less than ten milliseconds, and the way to another thread is not worth it. */
export const LARGE_BYTES = 512 * 1024;

const THREADS = 2;
/** Bodies beyond this are refused: each stays in memory while it waits. */
const MOST_WAITING = 32;
/** A body that becomes more than this in memory ends its thread, not the process. */
const HEAP_MB = 1536;

export interface LargeBodiesOptions {
  readonly heapMb?: number;
  readonly mostWaiting?: number;
}

export interface PreparedText {
  readonly prepared: Prepared;
  /** SHA-256 of the text that was read. */
  readonly textSha256: string;
}

/** An answer in the caller's dialect. */
export interface TranslatedAnswer {
  readonly text: Buffer;
  readonly observed: Observed;
  readonly fidelity: readonly FidelityEntry[];
}

interface Task {
  readonly work: Work;
  readonly body: Buffer;
  readonly result: PromiseWithResolvers<Outcome>;
}

/** Translates bodies that are so large that every other call would wait for them. Its threads start with the first one. */
export class LargeBodies {
  readonly #options: Required<LargeBodiesOptions>;
  readonly #idle: Worker[] = [];
  readonly #busy = new Map<Worker, Task>();
  readonly #waiting: Task[] = [];
  #closed = false;

  constructor({ heapMb = HEAP_MB, mostWaiting = MOST_WAITING }: LargeBodiesOptions = {}) {
    this.#options = { heapMb, mostWaiting };
  }

  /** The same as `prepare` of the mapping, on another thread. */
  async prepare(text: Buffer, input: PrepareInput): Promise<PreparedText> {
    const outcome = await this.#run(text, { kind: 'prepare', input: named(input) });
    if (outcome.kind !== 'prepare') throw new AbpError('internal', 'the thread answered another question');
    const { upstream, error, ...prepared } = outcome.prepared;
    return {
      prepared: {
        ...prepared,
        ...(upstream === undefined ? {} : { upstream: { ...upstream, body: bufferOf(upstream.body) } }),
        ...(error === undefined ? {} : { error: arrived(error) }),
      },
      textSha256: outcome.textSha256,
    };
  }

  /** The same as `patchText` of the mapping, on another thread. */
  async patch(text: Buffer, input: PatchTextInput): Promise<PatchedText> {
    const outcome = await this.#run(text, { kind: 'patch', input: namedPatch(input) });
    if (outcome.kind !== 'patch') throw new AbpError('internal', 'the thread answered another question');
    return { body: bufferOf(outcome.body), fidelity: outcome.fidelity };
  }

  /** The same as `translateWhole`, on another thread. */
  async translate(body: Buffer, translation: NamedTranslation): Promise<TranslatedAnswer> {
    const outcome = await this.#run(body, { kind: 'translate', translation });
    if (outcome.kind !== 'translate') throw new AbpError('internal', 'the thread answered another question');
    return { ...outcome.answer, text: bufferOf(outcome.answer.text) };
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const { result } of this.#waiting.splice(0)) result.reject(ended('the server is closing'));
    await Promise.all([...this.#idle.splice(0), ...this.#busy.keys()].map((worker) => worker.terminate()));
  }

  async #run(body: Buffer, work: Work): Promise<Outcome> {
    if (this.#closed) throw ended('the server is closing');
    if (this.#waiting.length >= this.#options.mostWaiting) {
      throw new AbpError('overloaded', 'Too many large requests are waiting to be translated.');
    }
    const task: Task = { work, body, result: Promise.withResolvers() };
    this.#waiting.push(task);
    this.#next();
    const outcome = await task.result.promise;
    if (outcome.kind === 'refused') throw arrived(outcome.error);
    if (outcome.kind === 'broken') throw new Error(outcome.message);
    return outcome;
  }

  #next(): void {
    const worker = this.#waiting.length === 0 || this.#closed ? undefined : (this.#idle.pop() ?? this.#start());
    if (worker === undefined) return;
    const task = this.#waiting.shift();
    if (task === undefined) return;
    this.#busy.set(worker, task);
    // A copy, made now and not earlier: the caller's bytes are still needed here.
    const bytes = new Uint8Array(task.body);
    const job: Job = { work: task.work, bytes };
    worker.postMessage(job, [bytes.buffer]);
  }

  #start(): Worker | undefined {
    if (this.#busy.size >= THREADS) return undefined;
    const worker = new Worker(siblingModule(import.meta.url, './thread'), {
      env: threadEnvironment(),
      resourceLimits: { maxOldGenerationSizeMb: this.#options.heapMb },
    });
    worker.unref();
    worker.on('message', (outcome: Outcome) => this.#finished(worker, outcome));
    worker.on('error', (error) => this.#lost(worker, error.message));
    worker.on('exit', () => this.#lost(worker, 'it exited'));
    return worker;
  }

  #finished(worker: Worker, outcome: Outcome): void {
    const task = this.#busy.get(worker);
    this.#busy.delete(worker);
    this.#idle.push(worker);
    task?.result.resolve(outcome);
    this.#next();
  }

  /** Only the job that the thread was at is lost; the next one gets a new thread. */
  #lost(worker: Worker, reason: string): void {
    const task = this.#busy.get(worker);
    const idle = this.#idle.indexOf(worker);
    if (idle !== -1) this.#idle.splice(idle, 1);
    this.#busy.delete(worker);
    task?.result.reject(ended(reason));
    this.#next();
  }
}

function ended(reason: string): AbpError {
  return new AbpError('internal', `The body could not be translated: the thread that translates large bodies ended (${reason}).`);
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
