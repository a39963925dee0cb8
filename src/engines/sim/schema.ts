import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import { numberFor, stringFor } from './schema-scalars.ts';
import { mergeSchemas, refTarget, schemaType } from './schema-shape.ts';

interface Scope {
  readonly root: JsonObject;
  /** References being expanded: meeting one again is endless recursion. */
  readonly refs: readonly string[];
  /** Makes the values of an array with `uniqueItems` differ. */
  readonly nth: number;
  /** Values still allowed: references that fan out would otherwise grow without bound. */
  readonly budget: { left: number };
}

const MAX_VALUES = 10_000;
const MAX_ITEMS = 1000;

/** The smallest value that is valid for a JSON Schema; the same schema always gives the same value. */
export function instance(schema: JsonObject, root: JsonObject = schema): Json {
  return build(schema, scopeOf(root)) ?? null;
}

/** Whether a JSON object looks meant for the schema: all required keys are there and, where the schema is closed, no others. */
export function looksLike(object: JsonObject, schema: JsonObject): boolean {
  const shape = flatten(schema, scopeOf(schema));
  if (shape === undefined || schemaType(shape) !== 'object') return false;
  const known = propertiesOf(shape);
  const closed = shape.additionalProperties === false;
  return (
    requiredOf(shape).every((key) => Object.hasOwn(object, key)) &&
    (!closed || Object.keys(object).every((key) => Object.hasOwn(known, key)))
  );
}

function scopeOf(root: JsonObject): Scope {
  return { root, refs: ['#'], nth: 0, budget: { left: MAX_VALUES } };
}

/** Undefined when no finite value exists, so that `anyOf` can try its next branch. */
function build(schema: JsonObject, scope: Scope): Json | undefined {
  scope.budget.left -= 1;
  if (scope.budget.left < 0) return undefined;
  const ref = schema.$ref;
  if (typeof ref === 'string') {
    if (scope.refs.includes(ref)) return undefined;
    const inner = { ...scope, refs: [...scope.refs, ref] };
    const { $ref: _, ...rest } = schema;
    return build(mergeSchemas(refTarget(scope.root, ref), rest), inner);
  }
  const branches = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(branches)) return firstBranch(schema, branches.filter(isJsonObject), scope);
  const shape = flatten(schema, scope);
  return shape === undefined ? undefined : buildFlat(shape, scope);
}

function firstBranch(schema: JsonObject, branches: readonly JsonObject[], scope: Scope): Json | undefined {
  const { anyOf, oneOf, ...base } = schema;
  const other = anyOf !== undefined && oneOf !== undefined ? { ...base, oneOf } : base;
  for (const branch of branches) {
    const value = build(mergeSchemas(other, branch), scope);
    if (value !== undefined) return value;
  }
  return undefined;
}

/** The schema with its `$ref` and all of `allOf` merged into one; undefined on endless recursion. */
function flatten(schema: JsonObject, scope: Scope): JsonObject | undefined {
  const { $ref: ref, allOf, ...base } = schema;
  const parts = Array.isArray(allOf) ? allOf.filter(isJsonObject) : [];
  if (typeof ref === 'string') {
    if (scope.refs.includes(ref)) return undefined;
    parts.push(refTarget(scope.root, ref));
  }
  if (parts.length === 0) return base;
  const inner = typeof ref === 'string' ? { ...scope, refs: [...scope.refs, ref] } : scope;
  let merged: JsonObject = base;
  for (const part of parts) {
    const flat = flatten(part, inner);
    if (flat === undefined) return undefined;
    merged = mergeSchemas(merged, flat);
  }
  return merged;
}

function buildFlat(schema: JsonObject, scope: Scope): Json | undefined {
  if (schema.anyOf !== undefined || schema.oneOf !== undefined) return build(schema, scope);
  if (schema.const !== undefined) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[scope.nth % schema.enum.length];
  switch (schemaType(schema)) {
    case 'object':
      return buildObject(schema, scope);
    case 'array':
      return buildArray(schema, scope);
    case 'number':
      return numberFor(schema, false, scope.nth);
    case 'integer':
      return numberFor(schema, true, scope.nth);
    case 'boolean':
      return scope.nth % 2 === 1;
    case 'null':
      return null;
    case 'string':
      return stringFor(schema, scope.nth);
  }
}

function buildObject(schema: JsonObject, scope: Scope): JsonObject | undefined {
  const properties = propertiesOf(schema);
  const built: Record<string, Json> = {};
  for (const key of neededKeys(schema, properties)) {
    const value = buildProperty(properties[key] ?? schema.additionalProperties, scope);
    if (value === undefined) return undefined;
    built[key] = value;
  }
  return built;
}

/** A property may be declared by a boolean schema or not at all: any value is valid then. */
function buildProperty(schema: Json | undefined, scope: Scope): Json | undefined {
  return build(isJsonObject(schema) ? schema : {}, scope);
}

function neededKeys(schema: JsonObject, properties: JsonObject): string[] {
  const keys = new Set(requiredOf(schema));
  const least = Number(schema.minProperties ?? 0);
  const spare = [...Object.keys(properties), ...Array.from({ length: Math.min(least, 64) }, (_, index) => `key${index + 1}`)];
  for (const key of spare) {
    if (keys.size >= least) break;
    keys.add(key);
  }
  return [...keys];
}

function buildArray(schema: JsonObject, scope: Scope): Json[] | undefined {
  const least = Math.min(Number(schema.minItems ?? 0), MAX_ITEMS);
  const leading = Array.isArray(schema.prefixItems) ? schema.prefixItems : [];
  const built: Json[] = [];
  for (let index = 0; index < least; index += 1) {
    const value = buildProperty(leading[index] ?? schema.items, schema.uniqueItems === true ? { ...scope, nth: index } : scope);
    if (value === undefined) return undefined;
    built.push(value);
  }
  return built;
}

function requiredOf(schema: JsonObject): string[] {
  return Array.isArray(schema.required) ? schema.required.filter((key) => typeof key === 'string') : [];
}

function propertiesOf(schema: JsonObject): JsonObject {
  return isJsonObject(schema.properties) ? schema.properties : {};
}
