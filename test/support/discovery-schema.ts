import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { isJsonObject, type Json, type JsonObject, parseJson } from '../../src/base/json.ts';

/** Checks values against the message types of a Google discovery document; the result lists what is wrong. */
export function discoveryChecker(file: string): (type: string, value: Json) => string[] {
  const parsed = parseJson(readFileSync(file, 'utf8'));
  const schemas = parsed.ok && isJsonObject(parsed.value) ? parsed.value.schemas : undefined;
  if (!isJsonObject(schemas)) throw new Error(`${file} is not a discovery document`);
  const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false });
  for (const [name, schema] of Object.entries(schemas)) ajv.addSchema({ $id: name, ...convert(schema) });
  // Named by the document, but not described in it.
  ajv.addSchema({ $id: 'MediaResolution', type: 'object' });
  return (type, value) => {
    ajv.validate(type, value);
    return (ajv.errors ?? []).map((error) => `${error.instancePath} ${error.message} ${JSON.stringify(error.params)}`);
  };
}

/** A message takes only its own members, in either spelling; 64-bit numbers may be text. */
function convert(schema: Json | undefined): JsonObject {
  if (!isJsonObject(schema)) return {};
  const { $ref, type, properties, items, additionalProperties, format, enum: values } = schema;
  if (typeof $ref === 'string') return { $ref };
  if (type === 'any') return {};
  if (type === 'array') return { type: 'array', items: convert(items) };
  if (type === 'string' && format === 'int64') return { type: ['string', 'integer'] };
  if (type !== 'object') return { ...(type === undefined ? {} : { type }), ...(values === undefined ? {} : { enum: values }) };
  if (!isJsonObject(properties))
    return { type: 'object', ...(additionalProperties === undefined ? {} : { additionalProperties: convert(additionalProperties) }) };
  return {
    type: 'object',
    properties: Object.fromEntries(Object.entries(properties).map(([name, property]) => [name, convert(property)])),
    patternProperties: { '^[a-z]+(_[a-z]+)+$': {} },
    additionalProperties: false,
  };
}
