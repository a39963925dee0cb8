import { isJsonObject, type Json, type JsonObject } from '../base/json.ts';
import type { VendorMeta } from '../ir/part.ts';

/** Members of a wire object that have no neutral form; they go back to their dialect as they came. */
export function otherMembers(value: object, known: readonly string[]): JsonObject | undefined {
  let rest: Record<string, Json> | undefined;
  // Names first: most objects have no other, and a long conversation has many objects.
  for (const key of Object.keys(value)) {
    if (known.includes(key)) continue;
    const member: Json | undefined = Reflect.get(value, key);
    if (member === undefined) continue;
    rest ??= {};
    rest[key] = member;
  }
  return rest;
}

/** `meta` holding one dialect's members, or nothing. */
export function vendorMeta(dialect: string, members: JsonObject | undefined): { meta?: VendorMeta } {
  return members === undefined ? {} : { meta: { [dialect]: members } };
}

/** An object with the members it came with from its own dialect; members that both have as objects are joined. */
export function joined(written: JsonObject, own: JsonObject | undefined): JsonObject {
  if (own === undefined) return written;
  const out: Record<string, Json> = { ...written };
  for (const [key, value] of Object.entries(own)) {
    const known = out[key];
    out[key] = isJsonObject(known) && isJsonObject(value) ? { ...known, ...value } : value;
  }
  return out;
}

/** `null` is how SDKs write a member of a request that nobody set. */
export function withoutNulls(body: Json): Json {
  if (!isJsonObject(body) || !Object.values(body).includes(null)) return body;
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
}

/** The object without members that are undefined, in the order given. */
export function compact(members: Readonly<Record<string, Json | undefined>>): JsonObject {
  const out: Record<string, Json> = {};
  for (const key in members) {
    const value = members[key];
    if (value !== undefined) out[key] = value;
  }
  return out;
}
