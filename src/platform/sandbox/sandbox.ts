import { Worker } from 'node:worker_threads';
import { parseJson } from '../../base/json.ts';
import { ownModule } from '../../base/own-files.ts';
import { bareThreadStart } from '../../base/threads.ts';
import { DEFAULT_LIMITS, type Execution, GIVEN_UP, type Limits, NEVER_BEGAN, type Program } from './execution.ts';
import { Places } from './places.ts';
import { type Report, STARTED, type Task } from './thread-protocol.ts';

/** Time for a thread to start and to load the interpreter, also where the disk or the processors have other work for a while. */
const START_MS = 60_000;
/** Code that the interpreter's own clock misses is ended from outside after this. */
const GRACE_MS = 500;
const THREADS = 2;

/**
 * Runs code of models and users. Three walls: QuickJS has no host objects, it is WebAssembly with a memory of its own, and it lives in a
 * thread without environment that is ended from outside. Every run gets a new thread; nothing of one run is there for the next.
 */
export class Sandbox {
  readonly #places = new Places(THREADS);

  async run(program: Program, options: { readonly limits?: Partial<Limits>; readonly signal?: AbortSignal } = {}): Promise<Execution> {
    const { limits, signal } = options;
    const run = async (): Promise<Execution> => {
      if (signal?.aborted === true) return NEVER_BEGAN;
      return executionOf(await inThread({ ...program, limits: { ...DEFAULT_LIMITS, ...limits } }, signal));
    };
    return (await this.#places.hold(run, signal)) ?? NEVER_BEGAN;
  }
}

function inThread(task: Task, signal: AbortSignal | undefined): Promise<Report> {
  const worker = new Worker(ownModule('platform/sandbox/quickjs-thread'), {
    workerData: task,
    ...bareThreadStart(),
    resourceLimits: { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 },
    stdin: false,
    stdout: true,
    stderr: true,
  });
  const { promise, resolve } = Promise.withResolvers<Report>();
  const ended = (status: Report['status'], error: string): void => resolve({ status, stdout: '', truncated: false, error });
  const timedOut = (): void => ended('timed_out', `the code did not end within ${task.limits.timeMs} ms`);
  let timer = setTimeout(() => ended('crashed', `the sandbox was not ready within ${START_MS} ms`), START_MS);
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
