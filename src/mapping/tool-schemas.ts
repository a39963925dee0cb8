import type { Json, JsonObject } from '../base/json.ts';
import type { Dialect, FateNote } from '../dialects/dialect.ts';
import type { IrFunctionTool, IrRequest, IrTool } from '../ir/request.ts';

/** Keywords that combine schemas, which some wires answer with 400 at the root of a function's schema. */
const COMBINING = ['anyOf', 'oneOf', 'allOf', 'not', 'enum'];

/** A request whose functions the target's wire takes, and what was changed. */
export interface MendedTools {
  readonly request: IrRequest;
  readonly notes: readonly FateNote[];
}

/** Arguments are always an object, so a schema that does not say so says it; what else the wire refuses at the root goes into words. */
export function mendSchemas(request: IrRequest, { rules }: Dialect): MendedTools {
  if (!rules.plainRoot || !request.tools.some(isOdd)) return { request, notes: [] };
  const notes: FateNote[] = [];
  return { request: { ...request, tools: request.tools.map((tool) => (isOdd(tool) ? mended(tool, notes) : tool)) }, notes };
}

function isOdd(tool: IrTool): tool is IrFunctionTool {
  return tool.kind === 'function' && (tool.schema.type !== 'object' || COMBINING.some((word) => tool.schema[word] !== undefined));
}

function mended(tool: IrFunctionTool, notes: FateNote[]): IrFunctionTool {
  const taken = Object.entries(tool.schema).filter(([word]) => COMBINING.includes(word));
  const rest = Object.fromEntries(Object.entries(tool.schema).filter(([word]) => !COMBINING.includes(word) && word !== 'type'));
  const schema: JsonObject = { type: 'object', ...rest };
  if (taken.length === 0) return { ...tool, schema };
  const words = taken.map(([word]) => word).join(', ');
  notes.push({
    concept: 'tool',
    fate: 'emulated',
    note: `${words} at the root of the schema stands in the description; the wire takes it nowhere else`,
    ...(tool.at === undefined ? {} : { at: tool.at }),
  });
  const { strict: _unheld, ...unheld } = tool;
  return { ...unheld, schema, description: [tool.description, demand(Object.fromEntries(taken))].filter(Boolean).join('\n\n') };
}

function demand(schema: Readonly<Record<string, Json>>): string {
  return `The input must also match this JSON Schema: ${JSON.stringify(schema)}`;
}
