import { isJsonObject, type Json, type JsonObject, parseJson, parseJsonObject } from '../base/json.ts';
import { AbpError } from '../contract/errors.ts';
import type { Store } from './store.ts';

/** PostgreSQL limits an index entry to 2704 bytes; 256 characters of four bytes stay below with room for the other columns. */
const INDEXED_CHARACTERS = 256;

/** Text both databases accept: PostgreSQL refuses U+0000, and half a surrogate pair has no UTF-8 form. */
export function storableText(text: string): string {
  return text.includes('\u0000') || !text.isWellFormed() ? text.replaceAll('\u0000', '\uFFFD').toWellFormed() : text;
}

/** Text for an indexed column. Whole values live in the JSON documents; a filter is cut in the same way before comparing. */
export function indexedText(text: string): string {
  return storableText(text.length > INDEXED_CHARACTERS ? text.slice(0, INDEXED_CHARACTERS) : text);
}

export function indexedOrNull(text: string | null): string | null {
  return text === null ? null : indexedText(text);
}

export function storedJson(column: string, text: string): Json {
  const parsed = parseJson(text);
  if (!parsed.ok) throw damaged(column, parsed.message);
  return parsed.value;
}

export function storedObject(column: string, text: string): JsonObject {
  const value = storedJson(column, text);
  if (!isJsonObject(value)) throw damaged(column, 'not an object');
  return value;
}

export function damaged(column: string, reason: string): AbpError {
  return new AbpError('internal', `the stored ${column} is damaged: ${reason}`);
}

/** An object without the secrets of the installation, as it may be kept. */
export function keptObject(store: Pick<Store, 'withoutSecrets'>, object: JsonObject): JsonObject {
  const text = store.withoutSecrets === undefined ? '' : JSON.stringify(object);
  const clean = store.withoutSecrets?.(text) ?? text;
  return clean === text ? object : (parseJsonObject(clean) ?? object);
}
