import { setTimeout as pause } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { Json, JsonObject } from '../../base/json.ts';
import { ownModule } from '../../base/own-files.ts';
import { threadStart } from '../../base/threads.ts';
import { AbpError } from '../../contract/errors.ts';

/** Work of libraries on texts and schemas of users, which may take as long as their author wants. */
export type CheckTask =
  | { readonly kind: 'yaml'; readonly text: string }
  | { readonly kind: 'problem'; readonly schema: JsonObject; readonly value: Json }
  | { readonly kind: 'schemas'; readonly schemas: readonly JsonObject[] }
  | { readonly kind: 'defaults'; readonly schema: JsonObject };

export type CheckOutcome = { readonly value: unknown } | { readonly error: string };

/** Processor time for all that a definition asks to be checked: on a busy machine a sound definition waits, and is not refused. */
const CHECK_MS = 2000;
/** For a check whose thread does not even say how long it has worked. */
const LONGEST_MS = 30_000;
const START_MS = 20_000;
const MOST_WAITING = 64;
const HEAP_MB = 256;

interface Waiting {
  readonly task: CheckTask;
  readonly result: PromiseWithResolvers<CheckOutcome>;
}

/** Checks on a thread that is ended when one takes too long: no other call waits for it, and it cannot take the process's memory. */
class Checks {
  readonly #waiting: Waiting[] = [];
  #worker: Worker | undefined;
  #current: Waiting | undefined;
  #ready = false;
  #timer: NodeJS.Timeout | undefined;

  async run(task: CheckTask): Promise<CheckOutcome> {
    if (this.#waiting.length >= MOST_WAITING) throw new AbpError('overloaded', 'Too many definitions are waiting to be checked.');
    const waiting: Waiting = { task, result: Promise.withResolvers() };
    this.#waiting.push(waiting);
    this.#next();
    return await waiting.result.promise;
  }

  #next(): void {
    if (this.#current !== undefined || this.#waiting.length === 0) return;
    this.#worker ??= this.#start();
    if (!this.#ready) return;
    const current = this.#waiting.shift();
    this.#current = current;
    this.#timer = setTimeout(() => this.#end(`it took longer than ${LONGEST_MS} ms`), LONGEST_MS);
    if (current !== undefined) void this.#watch(this.#worker, current);
    this.#worker.postMessage(current?.task);
  }

  /** Ends a check once its thread has worked on it for too long. */
  async #watch(worker: Worker, current: Waiting): Promise<void> {
    try {
      const before = await worker.cpuUsage();
      let left = CHECK_MS;
      while (left > 0) {
        await pause(left, undefined, { ref: false });
        if (this.#current !== current) return;
        const { user, system } = await worker.cpuUsage(before);
        left = CHECK_MS - (user + system) / 1000;
      }
      if (this.#current === current) this.#end(`it took longer than ${CHECK_MS} ms`);
    } catch (error) {
      // A thread that has ended has no usage; the caller that ended it, or its own error, ends the check.
      if (this.#current === current && this.#worker === worker) this.#end(String(error));
    }
  }

  #start(): Worker {
    const worker = new Worker(ownModule('platform/checks/check-thread'), {
      ...threadStart(),
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB, stackSizeMb: 4 },
    });
    this.#ready = false;
    this.#timer = setTimeout(() => this.#end('its thread did not start'), START_MS);
    worker.on('message', (message: CheckOutcome | 'ready') => this.#heard(message));
    worker.on('error', (error) => {
      if (this.#worker === worker) this.#end(error.message);
    });
    // After the listeners: adding one makes the thread keep the process alive again.
    worker.unref();
    return worker;
  }

  #heard(message: CheckOutcome | 'ready'): void {
    clearTimeout(this.#timer);
    if (message === 'ready') this.#ready = true;
    else {
      this.#current?.result.resolve(message);
      this.#current = undefined;
    }
    this.#next();
  }

  /** The thread is given up, and with it the check it was at; the next check gets a new one. */
  #end(reason: string): void {
    clearTimeout(this.#timer);
    void this.#worker?.terminate();
    this.#worker = undefined;
    const ended = this.#current ?? this.#waiting.shift();
    this.#current = undefined;
    ended?.result.resolve({ error: reason });
    this.#next();
  }
}

const checks = new Checks();

/** The front matter of a definition. Throws where it is no YAML or takes too long. */
export async function parsedYaml(text: string): Promise<unknown> {
  const outcome = await checks.run({ kind: 'yaml', text });
  if ('error' in outcome) throw new Error(outcome.error);
  return outcome.value;
}

/** The fault of each of these schemas; undefined where there is none. */
export async function schemaFaults(schemas: readonly JsonObject[]): Promise<readonly (string | undefined)[]> {
  if (schemas.length === 0) return [];
  const outcome = await checks.run({ kind: 'schemas', schemas });
  if ('error' in outcome) return schemas.map((_, at) => (at === 0 ? `checking it did not end well: ${outcome.error}` : undefined));
  return outcome.value as (string | undefined)[]; // what the thread answers to this task
}

/** Which of a schema's own defaults do not fit it. */
export async function faultsOfDefaults(schema: JsonObject): Promise<readonly string[]> {
  const outcome = await checks.run({ kind: 'defaults', schema });
  return 'error' in outcome ? [`checking the defaults did not end well: ${outcome.error}`] : (outcome.value as string[]); // likewise
}

/** A longer value is checked on the thread. */
const LONGEST_VALUE = 64 * 1024;

/** Why a value does not match a schema, or undefined when it does. */
export async function problemOf(schema: JsonObject, value: Json): Promise<string | undefined> {
  const { isQuickSchema, schemaProblem } = await import('../../negotiation/json-schema.ts');
  const known = quick.get(schema) ?? isQuickSchema(JSON.stringify(schema));
  quick.set(schema, known);
  if (known && JSON.stringify(value).length <= LONGEST_VALUE) return schemaProblem(schema, value);
  const outcome = await checks.run({ kind: 'problem', schema, value });
  return 'error' in outcome ? `checking it did not end well: ${outcome.error}` : (outcome.value as string | undefined); // likewise
}

/** By the schema itself: that of a tool is used for all its calls. */
const quick = new WeakMap<JsonObject, boolean>();
