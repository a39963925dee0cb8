import { isJsonObject, type Json, type JsonObject } from '../../../base/json.ts';
import type { ChatFlavour } from './flavour.ts';

/** Adds a delta to the opaque state of the reasoning: lists grow, and pieces of one text in them join; texts replace. */
export function mergeState(
  flavour: ChatFlavour,
  known: JsonObject | undefined,
  delta: Readonly<Record<string, unknown>>,
): JsonObject | undefined {
  let merged = known;
  for (const name of flavour.state) {
    const value = delta[name] as Json | undefined; // parsed JSON
    if (value === undefined || value === null) continue;
    merged = { ...merged, [name]: Array.isArray(value) ? grow(listOf(merged?.[name]), value) : value };
  }
  return merged;
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

function grow(list: readonly Json[], more: readonly Json[]): readonly Json[] {
  const all = [...list];
  for (const item of more) {
    const last = all.at(-1);
    const joined = isJsonObject(last) && isJsonObject(item) ? join(last, item) : undefined;
    if (joined === undefined) all.push(item);
    else all[all.length - 1] = joined;
  }
  return all;
}

/** Two pieces of the same entry: same number and kind, both with text. */
function join(a: JsonObject, b: JsonObject): JsonObject | undefined {
  const same = a.index === b.index && a.type === b.type && typeof a.text === 'string' && typeof b.text === 'string';
  return same ? { ...a, ...b, text: `${a.text}${b.text}` } : undefined;
}

/** The opaque members of a message that have a value. */
export function stateOf(flavour: ChatFlavour, message: Readonly<Record<string, unknown>>): JsonObject | undefined {
  const found = flavour.state.filter((name) => message[name] !== undefined && !isEmpty(message[name]));
  return found.length === 0 ? undefined : Object.fromEntries(found.map((name) => [name, message[name] as Json])); // parsed JSON
}

/** Null and an empty list say what absence says. */
export function isEmpty(value: unknown): boolean {
  return value === null || (Array.isArray(value) && value.length === 0);
}
