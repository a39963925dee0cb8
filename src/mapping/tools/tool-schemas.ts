import type { Json, JsonObject } from '../../base/json.ts';
import { parseShallowObject } from '../../base/json-limits.ts';
import type { Dialect, FateNote } from '../../dialects/dialect.ts';
import type { IrMessage } from '../../ir/conversation.ts';
import type { IrAnswerEvent } from '../../ir/event.ts';
import type { IrPart } from '../../ir/part.ts';
import type { IrFunctionTool, IrRequest, IrTool } from '../../ir/request.ts';
import type { AnswerChange, AnswerFilter } from '../answer-filter.ts';
import { WholeTexts } from '../whole-texts.ts';

/** Keywords that combine schemas, which some wires answer with 400 at the root of a function's schema. */
const COMBINING = ['anyOf', 'oneOf', 'allOf', 'not', 'enum'];
/** Where the arguments of a function stand whose schema is no object. */
const MEMBER = 'value';

/** A request whose functions the target's wire takes, what was changed, and what that means for calls of an answer. */
export interface MendedTools {
  readonly request: IrRequest;
  readonly notes: readonly FateNote[];
  readonly changes: readonly AnswerChange[];
}

/**
 * Arguments are always an object, so a schema that does not say so says it; one of another type is put into an object. What the wire
 * refuses at the root beside that goes into words.
 */
export function mendSchemas(request: IrRequest, { rules }: Dialect): MendedTools {
  const refused = rules.plainRoot ? COMBINING : [];
  const odd = (tool: IrTool): tool is IrFunctionTool => isOdd(tool, refused);
  if (!request.tools.some(odd)) return { request, notes: [], changes: [] };
  const notes: FateNote[] = [];
  const names = new Set(request.tools.filter(odd).flatMap(({ name, schema }) => (isWrapped(schema) ? [name] : [])));
  const tools = request.tools.map((tool) => (odd(tool) ? mended(tool, refused, notes) : tool));
  if (names.size === 0) return { request: { ...request, tools }, notes, changes: [] };
  return {
    request: { ...request, tools, messages: request.messages.map((message) => withWrappedCalls(message, names)) },
    notes,
    changes: [{ kind: 'wrapped-calls', names }],
  };
}

function isOdd(tool: IrTool, refused: readonly string[]): tool is IrFunctionTool {
  return tool.kind === 'function' && (tool.schema.type !== 'object' || refused.some((word) => tool.schema[word] !== undefined));
}

function isWrapped({ type }: JsonObject): boolean {
  return type !== undefined && type !== 'object';
}

function mended(tool: IrFunctionTool, refused: readonly string[], notes: FateNote[]): IrFunctionTool {
  const at = tool.at === undefined ? {} : { at: tool.at };
  if (isWrapped(tool.schema)) {
    const note = `the schema is no object; the arguments are asked for as the member "${MEMBER}" of one and taken out again`;
    notes.push({ concept: 'tool', fate: 'emulated', code: 'schema_wrapped', note, ...at });
    return { ...tool, schema: wrapped(tool.schema) };
  }
  const taken = Object.entries(tool.schema).filter(([word]) => refused.includes(word));
  const rest = Object.fromEntries(Object.entries(tool.schema).filter(([word]) => !refused.includes(word) && word !== 'type'));
  const schema: JsonObject = { type: 'object', ...rest };
  if (taken.length === 0) return { ...tool, schema };
  const words = taken.map(([word]) => word).join(', ');
  const note = `${words} at the root of the schema stands in the description; the wire takes it nowhere else`;
  notes.push({ concept: 'tool', fate: 'emulated', code: 'schema_root_described', note, ...at });
  const { strict: _unheld, ...unheld } = tool;
  const strictAt = tool.strictAt === undefined ? at : { at: tool.strictAt };
  if (tool.strict === true) notes.push({ concept: 'tool_strict', fate: 'emulated', code: 'strict_not_held', note, ...strictAt });
  return { ...unheld, schema, description: [tool.description, demand(Object.fromEntries(taken))].filter(Boolean).join('\n\n') };
}

/** References point to the root, so what they point to stays there. */
function wrapped({ $defs, definitions, ...inner }: JsonObject): JsonObject {
  return {
    type: 'object',
    properties: { [MEMBER]: inner },
    required: [MEMBER],
    additionalProperties: false,
    ...($defs === undefined ? {} : { $defs }),
    ...(definitions === undefined ? {} : { definitions }),
  };
}

function demand(schema: Readonly<Record<string, Json>>): string {
  return `The input must also match this JSON Schema: ${JSON.stringify(schema)}`;
}

function withWrappedCalls(message: IrMessage, names: ReadonlySet<string>): IrMessage {
  const isOne = (part: IrPart): boolean => part.kind === 'tool-call' && names.has(part.name);
  if (!message.parts.some(isOne)) return message;
  const parts = message.parts.map((part) =>
    part.kind === 'tool-call' && isOne(part) ? { ...part, arguments: `{"${MEMBER}":${part.arguments.trim() || 'null'}}` } : part,
  );
  return { ...message, parts };
}

/** Takes the arguments of wrapped functions out of their object. */
export class WrappedCallsFilter implements AnswerFilter {
  readonly #names: ReadonlySet<string>;
  readonly #texts = new WholeTexts();

  constructor(names: ReadonlySet<string>) {
    this.#names = names;
  }

  filter(event: IrAnswerEvent): IrAnswerEvent[] {
    if (event.type === 'part-start' && event.part.kind === 'tool-call' && this.#names.has(event.part.name)) this.#texts.hold(event.index);
    return this.#texts.filter(event, (text) => {
      const inner = parseShallowObject(text)?.[MEMBER];
      return inner === undefined ? text : JSON.stringify(inner);
    });
  }
}
