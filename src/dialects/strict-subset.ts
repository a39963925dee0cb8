import { isJsonObject, type Json, type JsonObject } from '../base/json.ts';

/** Which schemas a vendor holds its models to; any other one is answered with 400 where it is called strict. Objects are closed in all. */
export interface StrictSubset {
  /** Whether every member of an object must be required. */
  readonly allRequired: boolean;
  /** Whether a schema may refer to itself. */
  readonly recursion: boolean;
  /** Keywords that it does not take. */
  readonly without: readonly string[];
  /** How many strict tools one request may have, and how many unions and optional members all of them together. */
  readonly mostTools?: number;
  readonly mostUnions?: number;
  readonly mostOptional?: number;
}

const CONDITIONS = ['not', 'if', 'then', 'else', 'patternProperties', 'propertyNames', 'dependentRequired', 'dependentSchemas', 'contains'];

/** OpenAI (platform.openai.com/docs/guides/structured-outputs, supported schemas). */
export const OPENAI_STRICT: StrictSubset = {
  allRequired: true,
  recursion: true,
  without: [...CONDITIONS, 'oneOf', 'allOf', 'uniqueItems'],
};

/** Claude (platform.claude.com/docs/en/build-with-claude/structured-outputs, limitations); the counts are those of its 400s. */
export const CLAUDE_STRICT: StrictSubset = {
  allRequired: false,
  recursion: false,
  without: [...CONDITIONS, 'oneOf', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'minLength', 'maxLength'],
  mostTools: 20,
  mostUnions: 16,
  mostOptional: 24,
};

/** Why a schema is outside of the subset; undefined where it is inside. */
export function strictProblem(schema: JsonObject, subset: StrictSubset): string | undefined {
  for (const node of nodesOf(schema)) {
    const word = subset.without.find((one) => node[one] !== undefined);
    if (word !== undefined) return `it holds "${word}"`;
    if (isOpen(node)) return 'an object in it is open to other members';
    if (subset.allRequired && optionalIn(node) > 0) return 'a member in it is optional';
  }
  return !subset.recursion && isRecursive(schema) ? 'it refers to itself' : undefined;
}

/** Counts the parts of a schema that vendors limit per request. */
export function strictLoad(schema: JsonObject): { readonly unions: number; readonly optional: number } {
  let [unions, optional] = [0, 0];
  for (const node of nodesOf(schema)) {
    if (Array.isArray(node.anyOf) || Array.isArray(node.type)) unions += 1;
    optional += optionalIn(node);
  }
  return { unions, optional };
}

const MAPS = ['properties', '$defs', 'definitions'];
const LISTS = ['anyOf', 'oneOf', 'allOf', 'prefixItems'];

/** A schema and all schemas inside of it. */
function* nodesOf(schema: Json | undefined): Generator<JsonObject> {
  if (schema === undefined || !isJsonObject(schema)) return;
  yield schema;
  for (const word of MAPS) {
    const map = schema[word];
    if (isJsonObject(map ?? null)) for (const one of Object.values(map as JsonObject)) yield* nodesOf(one); // checked
  }
  for (const word of LISTS) for (const one of listIn(schema[word])) yield* nodesOf(one);
  yield* nodesOf(schema.items);
}

function listIn(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : []; // Array.isArray widens
}

function isOpen(node: JsonObject): boolean {
  return (node.type === 'object' || node.properties !== undefined) && node.additionalProperties !== false;
}

function optionalIn({ properties, required }: JsonObject): number {
  const needed = listIn(required);
  return isJsonObject(properties ?? null) ? Object.keys(properties as JsonObject).filter((name) => !needed.includes(name)).length : 0; // checked
}

/** Whether following references comes back to where it has been. */
function isRecursive(root: JsonObject): boolean {
  const reached = new Set<string>();
  const comesBack = (node: Json | undefined, way: readonly string[]): boolean => {
    for (const { $ref: ref } of nodesOf(node)) {
      if (typeof ref !== 'string') continue;
      if (ref === '#' || way.includes(ref)) return true;
      if (reached.has(ref)) continue;
      reached.add(ref);
      if (comesBack(target(root, ref), [...way, ref])) return true;
    }
    return false;
  };
  const { $defs: _defs, definitions: _definitions, ...own } = root;
  return comesBack(own, []);
}

function target(root: JsonObject, ref: string): Json | undefined {
  const steps = ref.split('/').slice(1);
  return steps.reduce<Json | undefined>((at, step) => (at !== undefined && isJsonObject(at) ? at[step] : undefined), root);
}
