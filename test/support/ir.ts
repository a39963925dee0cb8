import { isJsonObject, type Json, type JsonObject } from '../../src/base/json.ts';

/** A value without the source paths (`at`) that only say where a node came from. */
export function withoutPaths(value: unknown): Json {
  return strip(JSON.parse(JSON.stringify(value ?? null)) as Json); // plain data, copied
}

function strip(value: Json): Json {
  if (Array.isArray(value)) return value.map(strip);
  if (!isJsonObject(value)) return value;
  const out: Record<string, Json> = {};
  for (const [key, member] of Object.entries(value as JsonObject)) if (key !== 'at') out[key] = strip(member);
  return out;
}
