import { parentPort } from 'node:worker_threads';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import type { CheckOutcome, CheckTask } from './checks.ts';

async function outcomeOf(task: CheckTask): Promise<CheckOutcome> {
  switch (task.kind) {
    case 'yaml': {
      const { parse } = await import('yaml');
      // Aliases are how a few lines become gigabytes; nobody needs them here.
      return { value: parse(task.text, { schema: 'core', maxAliasCount: 0, logLevel: 'error' }) ?? {} };
    }
    case 'problem': {
      const { schemaProblem } = await import('../../negotiation/json-schema.ts');
      return { value: schemaProblem(task.schema, task.value) };
    }
    case 'schemas':
      return { value: await Promise.all(task.schemas.map(schemaFault)) };
    case 'defaults':
      return { value: await defaultFaults(task.schema) };
  }
}

parentPort?.on('message', (task: CheckTask) => {
  outcomeOf(task)
    .catch((error: unknown): CheckOutcome => ({ error: error instanceof Error ? error.message : String(error) }))
    .then((outcome) => parentPort?.postMessage(outcome));
});
parentPort?.postMessage('ready');

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
