import type { JsonObject } from '../base/json.ts';
import type { IrOutputFormat } from '../ir/request.ts';

/** The schema of an output format with the format's description in it, for wires that have no other place for one. */
export function described({ schema, description }: Extract<IrOutputFormat, { kind: 'json-schema' }>): JsonObject {
  if (description === undefined) return schema;
  const own = schema.description;
  return { ...schema, description: typeof own === 'string' && own !== description ? `${description}\n\n${own}` : description };
}
