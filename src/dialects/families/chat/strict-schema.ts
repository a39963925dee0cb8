import { isJsonObject, type Json, type JsonObject } from '../../../base/json.ts';

/** Whether OpenAI's strict mode takes a schema: every object closed, every property required, all the way down. */
export function fitsStrict(schema: JsonObject): boolean {
  if (!isClosed(schema)) return false;
  return nested(schema).every(fitsStrict);
}

function isClosed(schema: JsonObject): boolean {
  const { properties } = schema;
  if (schema.type !== 'object' && properties === undefined) return true;
  const required: readonly Json[] = Array.isArray(schema.required) ? schema.required : [];
  const names = isJsonObject(properties) ? Object.keys(properties) : [];
  return schema.additionalProperties === false && names.every((name) => required.includes(name));
}

/** Schemas inside a schema, by the keywords strict mode knows. */
function nested(schema: JsonObject): JsonObject[] {
  const maps = [schema.properties, schema.$defs, schema.definitions].filter(isJsonObject).flatMap((map) => Object.values(map));
  const lists = [schema.anyOf, schema.prefixItems].flatMap((list): readonly Json[] => (Array.isArray(list) ? list : []));
  return [...maps, ...lists, schema.items].filter(isJsonObject);
}
