import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import { AbpError } from '../../contract/errors.ts';
import { problemOf } from '../checks/checks.ts';
import type { AgentCapability } from './capability.ts';

/** The settings a capability works with: what the agent says, the rest by the schema's defaults. Throws when they do not fit. */
export async function completeConfig(capability: AgentCapability, given: JsonObject | undefined): Promise<JsonObject> {
  const { id, configSchema } = capability;
  if (configSchema === undefined) {
    if (given === undefined || Object.keys(given).length === 0) return {};
    throw new AbpError('unprocessable', `${id} has no settings.`, { capability_id: id });
  }
  const config = withDefaults(configSchema, given ?? {});
  const problem = await problemOf(configSchema, config);
  if (problem === undefined) return config;
  throw new AbpError('unprocessable', `The settings of ${id} do not fit: ${problem}`, { capability_id: id, problem });
}

/** The object with the defaults of its schema where it is silent, also inside the objects it holds. */
function withDefaults(schema: JsonObject, given: JsonObject): JsonObject {
  const { properties } = schema;
  if (properties === undefined || !isJsonObject(properties)) return given;
  const filled = Object.entries(properties).flatMap(([name, property]): [string, Json][] => {
    const value = Object.hasOwn(given, name) ? given[name] : isJsonObject(property) ? property.default : undefined;
    if (value === undefined) return [];
    return [[name, isJsonObject(property) && isJsonObject(value) ? withDefaults(property, value) : value]];
  });
  return { ...given, ...Object.fromEntries(filled) };
}
