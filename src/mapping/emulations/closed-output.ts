import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import { AbpError } from '../../contract/errors.ts';
import type { Dialect, FateNote } from '../../dialects/dialect.ts';
import { strictProblem } from '../../dialects/strict-subset.ts';
import type { IrRequest } from '../../ir/request.ts';

/**
 * An output format as far as the target's own takes it. Objects that are open to other members are closed: each answer that can then come
 * fits the open schema, too. What it does not take in any form is E003, because forcing a tool instead is not possible here.
 */
export function closedOutput(request: IrRequest, { rules }: Dialect): { readonly request: IrRequest; readonly notes: readonly FateNote[] } {
  const { output } = request;
  if (rules.output === undefined || output?.kind !== 'json-schema' || strictProblem(output.schema, rules.output) === undefined)
    return { request, notes: [] };
  const schema = closed(output.schema);
  const problem = isJsonObject(schema) ? strictProblem(schema, rules.output) : undefined;
  if (problem !== undefined || !isJsonObject(schema)) {
    throw new AbpError('E003', `The engine's output format does not take this schema while it thinks: ${problem ?? 'it is no object'}.`, {
      // By it the refusal finds the place of the schema.
      feature: 'structured_output_json_schema',
      reason: problem ?? 'the schema is no object',
      possible_interpretations: ['JSON output without thinking', 'thinking without JSON output', 'a schema of closed objects'],
    });
  }
  const note = 'the engine’s output format takes closed objects only: members beyond those of the schema cannot come';
  return {
    request: { ...request, output: { ...output, schema } },
    notes: [{ concept: 'json_schema', fate: 'emulated', code: 'schema_closed', note }],
  };
}

/** The schema with its open objects closed. Those that name no member, or say what others must be, would mean something else. */
function closed(schema: Json): Json {
  if (!isJsonObject(schema)) return schema;
  const inner: JsonObject = Object.fromEntries(Object.entries(schema).map(([word, value]) => [word, closedUnder(word, value)]));
  const { properties, additionalProperties: others } = schema;
  const closable = isJsonObject(properties) && Object.keys(properties).length > 0 && (others === undefined || others === true);
  return closable ? { ...inner, additionalProperties: false } : inner;
}

function closedUnder(word: string, value: Json): Json {
  if (NAMED.has(word) && isJsonObject(value))
    return Object.fromEntries(Object.entries(value).map(([name, schema]) => [name, closed(schema)]));
  if (LISTED.has(word) && Array.isArray(value)) return value.map((schema: Json) => closed(schema));
  return word === 'items' ? closed(value) : value;
}

/** Words that hold schemas by name, and lists of them. */
const NAMED: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions']);
const LISTED: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems']);
