import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import { join, type Ledger } from '../../ir/ledger.ts';
import { camelCase } from './proto.ts';

const LISTS = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems']);
const MAPS = new Set(['properties', '$defs', 'definitions', 'defs']);
/** Limits that proto JSON writes as text, because they are 64-bit. */
const LIMITS = new Set(['minItems', 'maxItems', 'minLength', 'maxLength', 'minProperties', 'maxProperties']);

/** Gemini's OpenAPI subset as JSON Schema: lower-case types, null as a type, and properties in the order that was asked for. */
export function toJsonSchema(schema: JsonObject): JsonObject {
  const out: Record<string, Json> = {};
  let nullable = false;
  for (const [spelled, value] of Object.entries(schema)) {
    const key = spelled.startsWith('$') ? spelled : camelCase(spelled);
    if (key === 'nullable') nullable = value === true;
    else if (key !== 'propertyOrdering') out[key === 'example' ? 'examples' : key] = member(key, value);
  }
  const ordered = inOrder(out, schema.propertyOrdering ?? schema.property_ordering);
  return nullable ? withNull(ordered) : ordered;
}

/** Other wires have no word for it: their models write the members of an object in the order in which the schema lists them. */
function inOrder(schema: Readonly<Record<string, Json>>, order: Json | undefined): JsonObject {
  const { properties } = schema;
  if (!Array.isArray(order) || !isJsonObject(properties)) return schema;
  const names = order.filter((name: Json): name is string => typeof name === 'string' && Object.hasOwn(properties, name));
  const rest = Object.keys(properties).filter((name) => !names.includes(name));
  return { ...schema, properties: Object.fromEntries([...names, ...rest].map((name) => [name, properties[name] ?? null])) };
}

/** Claims what a schema says about the order of its properties, at every depth. */
export function remarkOrder(schema: Json, at: string, ledger: Ledger): void {
  if (Array.isArray(schema)) for (const [index, item] of schema.entries()) remarkOrder(item, join(at, index), ledger);
  if (!isJsonObject(schema)) return;
  for (const [key, value] of Object.entries(schema)) {
    const place = join(at, key);
    if (!ORDER.has(key) || !Array.isArray(value)) {
      remarkOrder(value, place, ledger);
      continue;
    }
    ledger.claim(place, 'property_order');
    ledger.remark({ at: place, concept: 'property_order', code: 'properties_reordered', note: 'the properties are listed in this order' });
  }
}

const ORDER = new Set(['propertyOrdering', 'property_ordering']);

function member(key: string, value: Json): Json {
  if (key === 'type' && typeof value === 'string') return value.toLowerCase();
  if (key === 'example') return [value];
  if (LIMITS.has(key) && typeof value === 'string') return Number(value);
  if (LISTS.has(key) && Array.isArray(value)) return value.map((item: Json) => (isJsonObject(item) ? toJsonSchema(item) : item));
  if (!isJsonObject(value)) return value;
  if (MAPS.has(key)) return mapValues(value, (item) => (isJsonObject(item) ? toJsonSchema(item) : item));
  return key === 'items' || key === 'additionalProperties' ? toJsonSchema(value) : value;
}

function mapValues(value: JsonObject, change: (item: Json) => Json): JsonObject {
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, change(item)]));
}

function withNull(schema: Readonly<Record<string, Json>>): JsonObject {
  const { type, enum: values, anyOf } = schema;
  if (Array.isArray(anyOf)) return { ...schema, anyOf: [...anyOf, { type: 'null' }] };
  return {
    ...schema,
    ...(typeof type === 'string' ? { type: [type, 'null'] } : {}),
    ...(Array.isArray(values) ? { enum: [...values, null] } : {}),
  };
}
