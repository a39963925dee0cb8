import { existsSync, readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { isJsonObject, type Json, type JsonObject, parseJson } from '../../src/base/json.ts';

/** Complaints about a value that should be of a named schema. */
export type SchemaCheck = (schema: string, value: Json) => string[];

/** Not a dependency: without it, only a description that lies there as JSON can be read. */
const YAML = 'yaml';

/** A checker for an OpenAPI 3.0 description given as `<path>.json` or `<path>.yml`; undefined where neither can be read. */
export async function openapiChecker(path: string): Promise<SchemaCheck | undefined> {
  const schemas = schemasOf(await read(path));
  if (schemas === undefined) return undefined;
  const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false, inlineRefs: false });
  ajv.addSchema({ $id: 'api', components: { schemas: convert(schemas) } });
  return (schema, value) => {
    ajv.validate(`api#/components/schemas/${schema}`, value);
    return (ajv.errors ?? []).map((error) => `${error.instancePath} ${error.message} ${JSON.stringify(error.params)}`);
  };
}

/** The named schemas of such a description. */
export async function openapiSchemas(path: string): Promise<JsonObject | undefined> {
  return schemasOf(await read(path));
}

async function read(path: string): Promise<Json | undefined> {
  if (existsSync(`${path}.json`)) {
    const parsed = parseJson(readFileSync(`${path}.json`, 'utf8'));
    return parsed.ok ? parsed.value : undefined;
  }
  if (!existsSync(`${path}.yml`)) return undefined;
  const yaml: unknown = await import(YAML).catch(() => undefined);
  if (typeof yaml !== 'object' || yaml === null || !('parse' in yaml) || typeof yaml.parse !== 'function') return undefined;
  return yaml.parse(readFileSync(`${path}.yml`, 'utf8'));
}

function schemasOf(document: Json | undefined): JsonObject | undefined {
  const components = isJsonObject(document) ? document.components : undefined;
  const schemas = isJsonObject(components) ? components.schemas : undefined;
  return isJsonObject(schemas) ? schemas : undefined;
}

/** `nullable` is OpenAPI's; JSON Schema says it with a type. A discriminator chooses among alternatives that overlap without it. */
function convert(value: Json): Json {
  if (Array.isArray(value)) return value.map(convert);
  if (!isJsonObject(value)) return value;
  const { nullable, discriminator, ...rest } = value;
  const nameOf = (key: string): string => (key === 'oneOf' && discriminator !== undefined ? 'anyOf' : key);
  const converted = Object.fromEntries(Object.entries(rest).map(([key, member]) => [nameOf(key), convert(member)]));
  return nullable === true ? { anyOf: [converted, { type: 'null' }] } : converted;
}
