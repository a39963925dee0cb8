import { createContext, Script } from 'node:vm';
import { Ajv, type Options } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Json, JsonObject } from '../base/json.ts';

/** The schema comes from a caller: a pattern that backtracks for ever or a schema of a million nodes must not hold the process. */
const DEADLINE_MS = 250;

const OPTIONS: Options = {
  // Unknown keywords are annotations to JSON Schema, and vendors add their own.
  strict: false,
  // `format` is an annotation in draft 2020-12, and no vendor promises more.
  validateFormats: false,
  // Compiling the meta-schema costs more than the validation; a broken schema fails to compile anyway.
  validateSchema: false,
  meta: false,
  // Otherwise `required: ["constructor"]` is met by every object.
  ownProperties: true,
  logger: false,
};

const script = new Script('run()');
const context = createContext({});

/** Why a value does not match a JSON Schema, or undefined when it does. Draft 2020-12 unless the schema names draft 7 or 6. */
export function schemaProblem(schema: JsonObject, value: Json): string | undefined {
  try {
    return inTime(() => firstError(schema, value));
  } catch (error) {
    if (isTimeout(error)) return `checking it took longer than ${DEADLINE_MS} ms`;
    return `the schema cannot be used: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** The deadline is one of the wall clock: a process that was stopped or starved meanwhile gets a second chance. */
function inTime(run: () => string | undefined): string | undefined {
  try {
    return withinDeadline(run);
  } catch (error) {
    if (!isTimeout(error)) throw error;
    return withinDeadline(run);
  }
}

/** The error is made in the context of the script, so it is no instance of our `Error`. */
function isTimeout(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
}

/** A new validator each time: instances remember every schema and its `$id`, and two callers may use the same one. */
function firstError(schema: JsonObject, value: Json): string | undefined {
  const ajv = isOldDraft(schema) ? new Ajv(OPTIONS) : new Ajv2020(OPTIONS);
  // Ajv's own keyword `$async` would turn the verdict into a promise.
  const { $async: _, ...plain } = schema;
  const validate = ajv.compile(plain);
  return validate(value) ? undefined : ajv.errorsText(validate.errors, { dataVar: 'value' });
}

function isOldDraft(schema: JsonObject): boolean {
  return typeof schema.$schema === 'string' && /draft-0[67]/.test(schema.$schema);
}

/** The deadline of a script also ends the host functions it calls; nothing else interrupts a synchronous regular expression. */
function withinDeadline(run: () => string | undefined): string | undefined {
  context.run = run;
  try {
    const problem: unknown = script.runInContext(context, { timeout: DEADLINE_MS });
    return typeof problem === 'string' ? problem : undefined;
  } finally {
    context.run = undefined;
  }
}
