import type { QuickJSContext, QuickJSHandle, QuickJSRuntime } from 'quickjs-emscripten';
import { Printout } from './printout.ts';
import type { Report, Task } from './thread-protocol.ts';

/** Types of WebAssembly come with those of browsers, which are not ours. */
declare const WebAssembly: { readonly Memory: new (pages: { readonly initial: number; readonly maximum: number }) => object };

/** Promise jobs that run before the clock is looked at again: each may be short for ever. */
const JOBS_PER_LOOK = 64;
const FILE_NAME = 'code.js';
const PAGE_BYTES = 64 * 1024;
/** The memory that the interpreter was built to begin with. */
const INITIAL_PAGES = 256;
/** Its stack and its own data, before the code has anything. */
const INTERPRETER_BYTES = 8 * 1024 * 1024;

/** Builds `console` inside before the code runs. `print` is the only function of ours that code can reach, and it takes text. */
const PRELUDE = `((print) => {
  const { stringify } = JSON;
  const show = (value) => {
    if (typeof value === 'string') return value;
    if (value instanceof Error) return String(value.stack ? value + '\\n' + value.stack : value);
    if (typeof value !== 'object' || value === null) return String(value);
    try { return stringify(value); } catch { return String(value); }
  };
  const log = (...values) => print(values.map(show).join(' '));
  globalThis.console = { log, info: log, warn: log, error: log, debug: log };
})`;

class Stopped extends Error {
  readonly report: Pick<Report, 'status' | 'error'>;

  constructor(status: Report['status'], error: string) {
    super(error);
    this.report = { status, error };
  }
}

/** Runs a task in a fresh QuickJS machine of its own memory. Nothing of the host is reachable from inside it. */
export async function evaluate(task: Task, onStart: () => void): Promise<Report> {
  // Loaded here and only here: it is WebAssembly, and serving does not need it.
  const { newQuickJSWASMModule, newVariant, RELEASE_SYNC } = await import('quickjs-emscripten');
  const bounded = newVariant(RELEASE_SYNC, { wasmMemory: memoryOf(task.limits.memoryBytes) });
  const runtime = (await newQuickJSWASMModule(bounded)).newRuntime();
  const printout = new Printout(task.limits.outputCharacters);
  const machine = new Machine(runtime, task, printout);
  onStart();
  const said = (rest: Pick<Report, 'status' | 'error' | 'valueText'>): Report => ({
    ...rest,
    stdout: printout.text,
    truncated: printout.truncated,
  });
  try {
    return said({ status: 'completed', ...machine.run() });
  } catch (error) {
    return said(error instanceof Stopped ? error.report : { status: 'crashed', error: 'the sandbox ran out of a limit and was stopped' });
  }
}

/**
 * Memory that cannot grow beyond the limit. QuickJS has a limit of its own, but on WebAssembly it cannot ask how large an allocation is
 * and counts next to nothing.
 */
function memoryOf(memoryBytes: number): object {
  const maximum = Math.max(INITIAL_PAGES, Math.ceil((memoryBytes + INTERPRETER_BYTES) / PAGE_BYTES));
  return new WebAssembly.Memory({ initial: INITIAL_PAGES, maximum });
}

class Machine {
  readonly #runtime: QuickJSRuntime;
  readonly #context: QuickJSContext;
  readonly #task: Task;
  /** Taken before the code can put others in their place. */
  readonly #parse: QuickJSHandle;
  readonly #stringify: QuickJSHandle;
  #deadline = Number.POSITIVE_INFINITY;

  constructor(runtime: QuickJSRuntime, task: Task, printout: Printout) {
    runtime.setMaxStackSize(task.limits.stackBytes);
    const context = runtime.newContext();
    const print = context.newFunction('print', (text) => printout.add(`${context.getString(text)}\n`));
    const prelude = context.unwrapResult(context.evalCode(PRELUDE, 'prelude.js'));
    context.unwrapResult(context.callFunction(prelude, context.undefined, print));
    const json = context.getProp(context.global, 'JSON');
    this.#parse = context.getProp(json, 'parse');
    this.#stringify = context.getProp(json, 'stringify');
    this.#runtime = runtime;
    this.#context = context;
    this.#task = task;
  }

  run(): Pick<Report, 'valueText' | 'error'> {
    this.#deadline = performance.now() + this.#task.limits.timeMs;
    this.#runtime.setInterruptHandler(() => performance.now() > this.#deadline);
    if (this.#task.inspect === true) {
      this.#defaultExport();
      return {};
    }
    const value = this.#task.callWith === undefined ? this.#runScript() : this.#callExport(this.#task.callWith);
    const text = this.#got(this.#context.callFunction(this.#stringify, this.#context.undefined, value));
    if (this.#context.typeof(text) !== 'string') return {};
    const valueText = this.#context.getString(text);
    if (valueText.length <= this.#task.limits.outputCharacters) return { valueText };
    return { error: `the value is longer than ${this.#task.limits.outputCharacters} characters of JSON and was left out` };
  }

  /** A script has a last value; code that awaits at its top can only be a module, which has none. */
  #runScript(): QuickJSHandle {
    const { code } = this.#task;
    const script = this.#context.evalCode(code, FILE_NAME, { type: 'global', compileOnly: true });
    if (script.error === undefined) return this.#settled(this.#got(this.#context.evalCode(code, FILE_NAME, { type: 'global' })));
    if (!/\bawait\b|\bexport\b/.test(code)) return this.#got(script);
    this.#settled(this.#got(this.#context.evalCode(code, FILE_NAME, { type: 'module' })));
    return this.#context.undefined;
  }

  #defaultExport(): QuickJSHandle {
    const exports = this.#settled(this.#got(this.#context.evalCode(this.#task.code, FILE_NAME, { type: 'module' })));
    const callee = this.#context.getProp(exports, 'default');
    if (this.#context.typeof(callee) === 'function') return callee;
    throw new Stopped('threw', 'the code has no default export that is a function');
  }

  #callExport(values: readonly unknown[]): QuickJSHandle {
    const callee = this.#defaultExport();
    const handles = values.map((value) =>
      this.#got(this.#context.callFunction(this.#parse, this.#context.undefined, this.#context.newString(JSON.stringify(value)))),
    );
    return this.#settled(this.#got(this.#context.callFunction(callee, this.#context.undefined, ...handles)));
  }

  /** The outcome of a promise, once every job that can run has run. */
  #settled(value: QuickJSHandle): QuickJSHandle {
    while (this.#runtime.hasPendingJob()) {
      const jobs = this.#runtime.executePendingJobs(JOBS_PER_LOOK);
      if (jobs.error !== undefined) throw this.#stopped(jobs.error);
      if (performance.now() > this.#deadline) throw this.#timedOut();
    }
    const state = this.#context.getPromiseState(value);
    if (state.type === 'pending') throw new Stopped('threw', 'the code waits for something that never happens');
    if (state.type === 'rejected') throw this.#stopped(state.error);
    return state.notAPromise === true ? value : state.value;
  }

  #got(result: ReturnType<QuickJSContext['evalCode']>): QuickJSHandle {
    if (result.error !== undefined) throw this.#stopped(result.error);
    return result.value;
  }

  #stopped(error: QuickJSHandle): Stopped {
    if (performance.now() > this.#deadline) return this.#timedOut();
    return new Stopped('threw', this.#describe(error).slice(0, this.#task.limits.outputCharacters));
  }

  #timedOut(): Stopped {
    return new Stopped('timed_out', `the code did not end within ${this.#task.limits.timeMs} ms`);
  }

  /** The error as text, made inside: whatever its getters do happens there, under the same limits. */
  #describe(error: QuickJSHandle): string {
    const describe = this.#context.evalCode(
      '(error) => error instanceof Error ? error.name + ": " + error.message : "thrown: " + String(error)',
    );
    if (describe.error !== undefined) return 'out of memory';
    const text = this.#context.callFunction(describe.value, this.#context.undefined, error);
    return text.error === undefined ? this.#context.getString(text.value) : 'an error that cannot be described';
  }
}
