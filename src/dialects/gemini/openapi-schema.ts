import { isJsonObject, type Json, type JsonObject, listIn } from '../../base/json.ts';

/** Keywords that Gemini's OpenAPI subset shares with JSON Schema. */
const SHARED = new Set([
  'title',
  'description',
  'default',
  'format',
  'pattern',
  'enum',
  'required',
  'minimum',
  'maximum',
  'minItems',
  'maxItems',
  'minLength',
  'maxLength',
  'minProperties',
  'maxProperties',
]);
/** Keywords that are about the document, not about the value. */
const ABOUT = new Set(['$schema', '$id', '$defs', 'definitions', '$comment', 'examples']);
/** Formats of strings that Gemini takes. */
const FORMATS = new Set(['enum', 'date-time']);

/** A JSON Schema in Gemini's OpenAPI subset, and the keywords that have no form there. */
export function toOpenApi(schema: JsonObject): { readonly schema: JsonObject; readonly lost: readonly string[] } {
  const converter = new Converter(schema);
  const converted = converter.convert(schema, []);
  return { schema: converted, lost: [...converter.lost].sort() };
}

class Converter {
  readonly lost = new Set<string>();
  readonly #root: JsonObject;

  constructor(root: JsonObject) {
    this.#root = root;
  }

  /** `within` holds the references being followed: the subset has none, so a schema that contains itself ends in an open object. */
  convert(schema: JsonObject, within: readonly string[]): JsonObject {
    const { $ref: ref, ...beside } = schema;
    if (typeof ref === 'string') return this.#follow(ref, beside, within);
    const out: Record<string, Json> = { ...this.#type(schema) };
    for (const [key, value] of Object.entries(schema)) this.#keyword(out, key, value, within);
    return this.#alternatives(out, schema, within);
  }

  #follow(ref: string, beside: JsonObject, within: readonly string[]): JsonObject {
    const target = within.includes(ref) ? undefined : resolve(this.#root, ref);
    if (target === undefined) this.lost.add('$ref');
    return target === undefined ? { type: 'OBJECT' } : this.convert({ ...target, ...beside }, [...within, ref]);
  }

  #type(schema: JsonObject): JsonObject {
    const { type, properties, enum: values, const: only } = schema;
    const types = (Array.isArray(type) ? listIn(type) : [type]).filter((name) => typeof name === 'string');
    const named = types.filter((name) => name !== 'null');
    const nullable = named.length < types.length && named.length > 0;
    const [first] = named.length === 0 && types.length > 0 ? ['null'] : named;
    if (named.length > 1) return { anyOf: named.map((name) => ({ type: name.toUpperCase() })), ...(nullable ? { nullable } : {}) };
    const guessed =
      first ?? (isJsonObject(properties) ? 'object' : values !== undefined || typeof only === 'string' ? 'string' : undefined);
    return { ...(guessed === undefined ? {} : { type: guessed.toUpperCase() }), ...(nullable ? { nullable } : {}) };
  }

  #keyword(out: Record<string, Json>, key: string, value: Json, within: readonly string[]): void {
    if (key === 'enum' || key === 'const') this.#values(out, key === 'const' ? [value] : value);
    else if (key === 'format' && !(typeof value === 'string' && FORMATS.has(value))) this.lost.add('format');
    else if (SHARED.has(key)) out[key] = value;
    else if (key === 'properties' && isJsonObject(value)) out.properties = this.#properties(value, within);
    else if (key === 'items' && isJsonObject(value)) out.items = this.convert(value, within);
    else if (!HANDLED.has(key) && !ABOUT.has(key)) this.lost.add(key);
  }

  /** Enumerations are of text only; null in one says that the value may be null. */
  #values(out: Record<string, Json>, values: Json): void {
    const list = listIn(values);
    const texts = list.filter((value) => typeof value === 'string');
    if (list.includes(null)) out.nullable = true;
    if (texts.length < list.filter((value) => value !== null).length) this.lost.add('enum');
    else out.enum = texts;
  }

  #properties(properties: JsonObject, within: readonly string[]): JsonObject {
    return Object.fromEntries(
      Object.entries(properties).map(([name, value]) => [name, isJsonObject(value) ? this.convert(value, within) : {}]),
    );
  }

  /** `oneOf` is read as `anyOf`; a single `allOf` is the schema itself. */
  #alternatives(out: Record<string, Json>, schema: JsonObject, within: readonly string[]): JsonObject {
    if (schema.oneOf !== undefined) this.lost.add('oneOf');
    const [only, ...more] = schemas(schema.allOf);
    if (more.length > 0) this.lost.add('allOf');
    const merged = only === undefined ? out : { ...this.convert(only, within), ...out };
    const choices = [...schemas(schema.anyOf), ...schemas(schema.oneOf)];
    if (choices.length === 0) return merged;
    const real = choices.filter((choice) => choice.type !== 'null');
    const nullable = real.length < choices.length ? { nullable: true } : {};
    const [single] = real;
    if (real.length === 1 && single !== undefined) return { ...merged, ...this.convert(single, within), ...nullable };
    return { ...merged, anyOf: real.map((choice) => this.convert(choice, within)), ...nullable };
  }
}

/** Keywords read elsewhere than in the walk over the members. */
const HANDLED = new Set(['type', '$ref', 'anyOf', 'oneOf', 'allOf']);

function schemas(value: Json | undefined): JsonObject[] {
  return listIn(value).filter(isJsonObject);
}

/** `#/$defs/place` in the document itself. */
function resolve(root: JsonObject, ref: string): JsonObject | undefined {
  if (!ref.startsWith('#/')) return undefined;
  let at: Json | undefined = root;
  for (const step of ref.slice(2).split('/')) {
    at = isJsonObject(at) ? at[step.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined;
  }
  return isJsonObject(at) ? at : undefined;
}
