/** Any value JSON can hold. A number that a double would change is an `ExactNumber`, which this type sees as an object. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject;
/** A JSON object. */
export interface JsonObject {
  readonly [key: string]: Json;
}

/** The digits of a number as they were written; `JSON.stringify` writes them back. */
export type ExactNumber = JsonObject & { readonly rawJSON: string };

/** The part of `JSON` that TypeScript's library does not know yet. */
const Exact = JSON as unknown as {
  rawJSON(text: string): ExactNumber;
  isRawJSON(value: unknown): value is ExactNumber;
  parse(text: string, reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown): unknown;
};

export type ParseResult = { readonly ok: true; readonly value: Json } | { readonly ok: false; readonly message: string };

/**
 * Texts that may hold a number which a double changes: sixteen digits in a row, or an exponent of three, where a value may begin. Digits
 * inside a word are no number: without that, nearly every digest and every image in base64 would make its text take the slow way. The
 * first digit is looked for before what stands before it: most characters are none, and are passed over several times as fast.
 */
const MAY_LOSE = /\d(?<=(?:^|[\s:,[])-?\d)(?:[\d.]{15}|[\d.]*[eE][+-]?\d{3})/;

/**
 * The only place that calls `JSON.parse` on text from outside; failure is a value, not a throw. Integers beyond 2^53, long decimals and
 * `1e400` keep their digits as an `ExactNumber`, so that what is written from the value is what was read.
 */
export function parseJson(text: string): ParseResult {
  const { stackTraceLimit } = Error;
  // Nobody reads the stack of a failure here, and writing it down takes longer than parsing a short text.
  Error.stackTraceLimit = 0;
  try {
    const value = MAY_LOSE.test(text) ? Exact.parse(text, keepDigits) : JSON.parse(text);
    return { ok: true, value: value as Json }; // what a parser makes of JSON text
  } catch (error) {
    return { ok: false, message: error instanceof Error ? error.message : String(error) };
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

function keepDigits(_key: string, value: unknown, { source }: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || source === undefined || decimalOf(source) === decimalOf(String(value))) return value;
  return Exact.rawJSON(source);
}

/** A number's value as text that does not depend on how it is written: `1.50e3` and `1500` are both `15e2`. */
function decimalOf(text: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const significant = digits.replace(/(?<!0)0+$/, '');
  if (significant === '') return whole === '' ? text : '0';
  return `${sign}${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
}

export function isExactNumber(value: unknown): value is ExactNumber {
  return Exact.isRawJSON(value);
}

/** The number as a double, for a reader to whom the last digits mean nothing (a probability, a temperature); undefined for anything else. */
export function nearestDouble(value: Json | undefined): number | undefined {
  if (typeof value === 'number') return value;
  const double = isExactNumber(value) ? Number(value.rawJSON) : Number.NaN;
  return Number.isFinite(double) ? double : undefined;
}

export function isJsonObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !Exact.isRawJSON(value);
}

/** The value where it is an object; anything else is none. */
export function objectIn(value: unknown): JsonObject | undefined {
  return isJsonObject(value as Json | undefined) ? (value as JsonObject) : undefined; // the check looks at the kind of value alone
}

/** The items of a list; anything else has none. */
export function listIn(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

/**
 * An object that holds JSON although its type cannot say so: interfaces have no index signature, and open schemas type the members that
 * they do not name as unknown.
 */
export function jsonOf(value: object): JsonObject {
  return value as JsonObject;
}

/** A parsed object, or undefined when the text is anything else. */
export function parseJsonObject(text: string): JsonObject | undefined {
  const parsed = parseJson(text);
  return parsed.ok && isJsonObject(parsed.value) ? parsed.value : undefined;
}

/** The keys of a table. Its type is all that it has: tables are constants of ours, not values that somebody has added members to. */
export function keysOf<T extends object>(table: T): (keyof T & string)[] {
  return Object.keys(table) as (keyof T & string)[];
}
