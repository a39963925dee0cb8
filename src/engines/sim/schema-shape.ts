import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';

export type SchemaType = 'object' | 'array' | 'string' | 'number' | 'integer' | 'boolean' | 'null';

const TYPES: ReadonlySet<string> = new Set(['object', 'array', 'string', 'number', 'integer', 'boolean', 'null']);

/** The type to build: the first one named, else what the keywords imply. Gemini writes types in capitals. */
export function schemaType(schema: JsonObject): SchemaType {
  const named = (Array.isArray(schema.type) ? schema.type : [schema.type]).map((type) => String(type).toLowerCase()).find(isSchemaType);
  if (named !== undefined) return named;
  if (schema.properties !== undefined || schema.required !== undefined || schema.minProperties !== undefined) return 'object';
  if (schema.items !== undefined || schema.prefixItems !== undefined || schema.minItems !== undefined) return 'array';
  if (schema.minimum !== undefined || schema.maximum !== undefined || schema.multipleOf !== undefined) return 'number';
  return 'string';
}

function isSchemaType(type: string): type is SchemaType {
  return TYPES.has(type);
}

/** Follows a JSON pointer inside the same document; an unknown target allows everything. */
export function refTarget(root: JsonObject, ref: string): JsonObject {
  const keys = ref
    .replace(/^#\/?/, '')
    .split('/')
    .filter((key) => key !== '');
  let at: Json | undefined = root;
  for (const key of keys) {
    const name = safeDecode(key).replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(at)) at = at[Number(name)];
    else at = isJsonObject(at) && Object.hasOwn(at, name) ? at[name] : undefined;
  }
  return isJsonObject(at) ? at : {};
}

/** A pointer in a URI fragment is percent-encoded; one that is not valid as such is taken as written. */
function safeDecode(text: string): string {
  return /%(?![0-9a-f]{2})/i.test(text) ? text : decodeURIComponentOr(text);
}

function decodeURIComponentOr(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return text;
    throw error;
  }
}

/** How two values of a keyword combine when both must hold. Other keywords: the second wins. */
const COMBINE: Readonly<Record<string, (left: Json, right: Json) => Json>> = {
  properties: (left, right) => (isJsonObject(left) && isJsonObject(right) ? mergeProperties(left, right) : right),
  required: (left, right) => [...new Set([...listOf(left), ...listOf(right)])],
  allOf: (left, right) => [...listOf(left), ...listOf(right)],
  enum: (left, right) => listOf(left).filter((value) => listOf(right).includes(value)),
  type: (left, right) => narrower(left, right),
  minimum: larger,
  exclusiveMinimum: larger,
  minLength: larger,
  minItems: larger,
  minProperties: larger,
  maximum: smaller,
  exclusiveMaximum: smaller,
  maxLength: smaller,
  maxItems: smaller,
};

/** One schema that says what both say. */
export function mergeSchemas(left: JsonObject, right: JsonObject): JsonObject {
  const merged: Record<string, Json> = { ...left };
  for (const [key, value] of Object.entries(right)) {
    const before = merged[key];
    merged[key] = before === undefined ? value : (COMBINE[key]?.(before, value) ?? value);
  }
  return merged;
}

function mergeProperties(left: JsonObject, right: JsonObject): JsonObject {
  const merged: Record<string, Json> = { ...left };
  for (const [key, value] of Object.entries(right)) {
    const before = merged[key];
    merged[key] = isJsonObject(before) && isJsonObject(value) ? { allOf: [before, value] } : value;
  }
  return merged;
}

function narrower(left: Json, right: Json): Json {
  const allowed = listOf(right).map(String);
  const both = listOf(left).filter((type) => allowed.includes(String(type)));
  if (both.length > 0) return both;
  return allowed.includes('integer') || !listOf(left).includes('integer') ? right : left;
}

function listOf(value: Json): readonly Json[] {
  return Array.isArray(value) ? value : [value];
}

function larger(left: Json, right: Json): Json {
  return Number(left) >= Number(right) ? left : right;
}

function smaller(left: Json, right: Json): Json {
  return Number(left) <= Number(right) ? left : right;
}
