import { Worker } from 'node:worker_threads';
import { parseJson } from '../../base/json.ts';
import { siblingModule } from '../../base/module-url.ts';
import { AbpError } from '../../contract/errors.ts';
import { DEFAULT_LIMITS, type Execution, type Limits, type Program } from './execution.ts';
import { type Report, STARTED, type Task } from './thread-protocol.ts';

/** Time for a thread to start and to load the interpreter. */
const START_MS = 10_000;
/** What the interpreter's own clock misses is ended from outside after this. */
const GRACE_MS = 500;
const THREADS = 2;
const MOST_WAITING = 100;
const GIVEN_UP = 'the call was given up';

/**
 * Runs code of models and users. Three walls: QuickJS has no host objects, it is WebAssembly with a memory of its own, and it lives in a
 * thread without environment that is ended from outside. Every run gets a new thread; nothing of one run is there for the next.
 */
export class Sandbox {
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  async run(program: Program, options: { readonly limits?: Partial<Limits>; readonly signal?: AbortSignal } = {}): Promise<Execution> {
    await this.#enter();
    try {
      if (options.signal?.aborted === true) return { status: 'timed_out', stdout: '', truncated: false, error: GIVEN_UP };
      return executionOf(await inThread({ ...program, limits: { ...DEFAULT_LIMITS, ...options.limits } }, options.signal));
    } finally {
      this.#running -= 1;
      this.#waiting.shift()?.();
    }
  }

  /** Threads are few, so that a model that runs much code does not take the machine from everybody else. */
  async #enter(): Promise<void> {
    if (this.#running >= THREADS) {
      if (this.#waiting.length >= MOST_WAITING) throw new AbpError('overloaded', 'Too many programs wait for the sandbox.');
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    this.#running += 1;
  }
}

function inThread(task: Task, signal: AbortSignal | undefined): Promise<Report> {
  const worker = new Worker(siblingModule(import.meta.url, './quickjs-thread'), {
    workerData: task,
    env: {},
    execArgv: ['--disable-warning=ExperimentalWarning'],
    resourceLimits: { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 },
    stdin: false,
    stdout: true,
    stderr: true,
  });
  const { promise, resolve } = Promise.withResolvers<Report>();
  const ended = (status: Report['status'], error: string): void => resolve({ status, stdout: '', truncated: false, error });
  const timedOut = (): void => ended('timed_out', `the code did not end within ${task.limits.timeMs} ms`);
  let timer = setTimeout(timedOut, START_MS);
  const abort = (): void => ended('timed_out', GIVEN_UP);
  signal?.addEventListener('abort', abort, { once: true });
  worker.on('message', (message: Report | typeof STARTED) => {
    if (message !== STARTED) return resolve(message);
    clearTimeout(timer);
    timer = setTimeout(timedOut, task.limits.timeMs + GRACE_MS);
  });
  worker.once('error', (error) => ended('crashed', `the sandbox was stopped: ${error.message}`));
  worker.once('exit', () => ended('crashed', 'the sandbox ended without an answer'));
  return promise.finally(async () => {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
    await worker.terminate();
  });
}

function executionOf({ valueText, ...rest }: Report): Execution {
  const parsed = valueText === undefined ? undefined : parseJson(valueText);
  return parsed?.ok === true ? { ...rest, value: parsed.value } : rest;
}
