import { isJsonObject, type Json, type JsonObject } from '../../../base/json.ts';

/** The members of a line are read one by one: an agent of another version may have left any of them out. */
export function textAt(value: Json | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

export function objectAt(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

export function listAt(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

/** A whole number from zero up; undefined for anything else, so that a count is never invented. */
export function countAt(value: Json | undefined): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

export function numberAt(value: Json | undefined): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/** The first of several members that is a text; agents of one family name the same thing differently. */
export function firstText(object: JsonObject, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = textAt(object[name]);
    if (value !== undefined) return value;
  }
  return undefined;
}
