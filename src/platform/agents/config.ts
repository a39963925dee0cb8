import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import { AbpError } from '../../contract/errors.ts';
import type { AgentCapability } from './capability.ts';

/** The settings a capability works with: what the agent says, the rest by the schema's defaults. Throws when they do not fit. */
export async function completeConfig(capability: AgentCapability, given: JsonObject | undefined): Promise<JsonObject> {
  const { id, configSchema } = capability;
  if (configSchema === undefined) {
    if (given === undefined || Object.keys(given).length === 0) return {};
    throw new AbpError('unprocessable', `${id} has no settings.`, { capability_id: id });
  }
  const config = withDefaults(configSchema, given ?? {});
  const { schemaProblem } = await import('../../negotiation/json-schema.ts');
  const problem = schemaProblem(configSchema, config);
  if (problem === undefined) return config;
  throw new AbpError('unprocessable', `The settings of ${id} do not fit: ${problem}`, { capability_id: id, problem });
}

/** The object with the defaults of its schema where it is silent, also inside the objects it holds. */
export function withDefaults(schema: JsonObject, given: JsonObject): JsonObject {
  const { properties } = schema;
  if (properties === undefined || !isJsonObject(properties)) return given;
  const filled = Object.entries(properties).flatMap(([name, property]): [string, Json][] => {
    const value = Object.hasOwn(given, name) ? given[name] : isJsonObject(property) ? property.default : undefined;
    if (value === undefined) return [];
    return [[name, isJsonObject(property) && isJsonObject(value) ? withDefaults(property, value) : value]];
  });
  return { ...given, ...Object.fromEntries(filled) };
}

/** Why a value is no JSON Schema for an object, or undefined when it is one. */
export async function schemaFault(schema: JsonObject): Promise<string | undefined> {
  if (schema.type !== 'object') return 'it must have "type": "object"';
  const { Ajv2020 } = await import('ajv/dist/2020.js');
  const ajv = new Ajv2020({ strict: false, logger: false, validateFormats: false });
  if (ajv.validateSchema({ ...schema, $schema: 'https://json-schema.org/draft/2020-12/schema' }) !== true) {
    return ajv.errorsText(ajv.errors, { dataVar: 'schema' });
  }
  // A pattern or a reference that leads nowhere shows when the schema is used.
  const { schemaProblem } = await import('../../negotiation/json-schema.ts');
  const problem = schemaProblem(schema, {});
  return problem !== undefined && /^(?:the schema cannot be used|checking it took)/.test(problem) ? problem : undefined;
}

/** Which of a schema's own defaults do not fit it. */
export async function defaultFaults(schema: JsonObject): Promise<string[]> {
  const { properties, $defs = {}, definitions = {} } = schema;
  if (properties === undefined || !isJsonObject(properties)) return [];
  const { schemaProblem } = await import('../../negotiation/json-schema.ts');
  return Object.entries(properties).flatMap(([name, property]) => {
    const value = isJsonObject(property) ? property.default : undefined;
    if (value === undefined) return [];
    const problem = schemaProblem({ type: 'object', $defs, definitions, properties: { [name]: property } }, { [name]: value });
    return problem === undefined ? [] : [`the default of ${name}: ${problem}`];
  });
}
