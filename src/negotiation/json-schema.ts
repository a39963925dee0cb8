import { createRequire } from 'node:module';
import type { Ajv, Options, ValidateFunction } from 'ajv';
import { isTimeout, withinDeadline } from '../base/deadline.ts';
import type { Json, JsonObject } from '../base/json.ts';

/** The schema comes from a caller: a pattern that backtracks for ever or a schema of a million nodes must not hold the process. */
const DEADLINE_MS = 250;
const MOST_TRIES = 4;

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

interface Drafts {
  readonly Ajv: typeof Ajv;
  readonly Ajv2020: typeof Ajv;
}

const load = createRequire(import.meta.url);
let loaded: Drafts | undefined;

/** Ajv, with the first schema that is checked: it is ninety files, and a server starts without any schema. */
function drafts(): Drafts {
  // Its CommonJS modules export classes of these names, of one shape.
  loaded ??= { Ajv: load('ajv').Ajv, Ajv2020: load('ajv/dist/2020.js').Ajv2020 } as Drafts;
  return loaded;
}

/** Schemas that only name types and bounds are checked in microseconds. */
const SLOW = /"(?:pattern|patternProperties|\$ref|\$dynamicRef|uniqueItems|propertyNames)"/;
const SMALL = 16 * 1024;

/** Whether a value of moderate size is held against the schema, given as JSON text, in some milliseconds. */
export function isQuickSchema(schema: string): boolean {
  return schema.length <= SMALL && !SLOW.test(schema);
}

/** Why a value does not match a JSON Schema, or undefined when it does. Draft 2020-12 unless the schema names draft 7 or 6. */
export function schemaProblem(schema: JsonObject, value: Json): string | undefined {
  // Not within the deadline of the check.
  drafts();
  try {
    return inTime(() => firstError(schema, value));
  } catch (error) {
    if (isTimeout(error)) return `checking it took longer than ${DEADLINE_MS} ms`;
    return `the schema cannot be used: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** The deadline is one of the wall clock: a thread that was stopped or starved meanwhile has hardly worked, and begins again. */
function inTime(run: () => string | undefined): string | undefined {
  for (let tries = 1; ; tries += 1) {
    const before = process.cpuUsage();
    try {
      return withinDeadline(DEADLINE_MS, run);
    } catch (error) {
      if (!isTimeout(error) || tries === MOST_TRIES || workedMs(before) >= DEADLINE_MS / 2) throw error;
    }
  }
}

function workedMs(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

interface Validator {
  readonly ajv: Ajv;
  readonly validate: ValidateFunction;
}

/** By the schema itself: that of a tool is used for all its calls. */
const validators = new WeakMap<JsonObject, Validator>();

function firstError(schema: JsonObject, value: Json): string | undefined {
  const { ajv, validate } = validators.get(schema) ?? newValidator(schema);
  return validate(value) ? undefined : ajv.errorsText(validate.errors, { dataVar: 'value' });
}

/** An instance for each: instances remember every schema and its `$id`, and two callers may use the same one. */
function newValidator(schema: JsonObject): Validator {
  const { Ajv, Ajv2020 } = drafts();
  const ajv = isOldDraft(schema) ? new Ajv(OPTIONS) : new Ajv2020(OPTIONS);
  // Ajv's own keyword `$async` would turn the verdict into a promise.
  const { $async: _, ...plain } = schema;
  const made: Validator = { ajv, validate: ajv.compile(plain) };
  validators.set(schema, made);
  return made;
}

function isOldDraft(schema: JsonObject): boolean {
  return typeof schema.$schema === 'string' && /draft-0[67]/.test(schema.$schema);
}
