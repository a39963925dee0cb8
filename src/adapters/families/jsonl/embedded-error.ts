import { isJsonObject, type JsonObject } from '../../../base/json.ts';
import { parseShallowObject } from '../../../base/json-limits.ts';
import type { Failure } from '../lines/failure.ts';
import { countAt, objectAt, textAt } from '../lines/fields.ts';

/** Agents print the error body of a model call inside their own words. What it says in plain words, and its status, where it is there. */
export function embeddedError(text: string): Failure {
  const body = parseShallowObject(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1));
  const error = errorIn(body);
  const message = textAt(error?.message);
  if (error === undefined || message === undefined) return { message: text };
  const status = countAt(error.code) ?? countAt(error.status);
  return { ...embeddedError(message), ...(status !== undefined && { status }) };
}

/** Some vendors put the error into a list of one. */
function errorIn(body: JsonObject | undefined): JsonObject | undefined {
  return isJsonObject(body?.error) ? objectAt(body.error) : undefined;
}
