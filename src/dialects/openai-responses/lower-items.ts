import { sha256 } from '../../base/canonical-json.ts';
import { type JsonObject, objectIn } from '../../base/json.ts';
import type { IrMessage } from '../../ir/conversation.ts';
import type { IrPart, ThinkingPart, ToolCallPart, ToolResultPart } from '../../ir/part.ts';
import { ID } from './lift-content.ts';
import { type ContentContext, isContent, lowerInput, where } from './lower-content.ts';

/** Everything that the items of one request depend on besides themselves. */
export interface ItemContext extends ContentContext {
  /** Ids of the calls of custom tools; their results are an item of another kind. */
  readonly customCalls: ReadonlySet<string>;
}

export function customCalls(messages: readonly IrMessage[]): ReadonlySet<string> {
  const parts = messages.flatMap((message) => message.parts);
  return new Set(parts.flatMap((part) => (part.kind === 'tool-call' && part.custom ? [part.id] : [])));
}

/** The items of one message, in the order of its parts. */
export function lowerMessage(message: IrMessage, context: ItemContext): JsonObject[] {
  if (message.role === 'assistant') return lowerAnswer(message.parts, context);
  const own = message.meta?.[ID];
  const role = message.role === 'user' ? 'user' : 'developer';
  const items: JsonObject[] = [];
  let open: IrPart[] = [];
  const close = (): void => {
    if (open.length > 0) items.push({ type: 'message', role, content: lowerContent(open, context), ...own });
    open = [];
  };
  for (const part of message.parts) {
    const item = lowerResult(part, context);
    if (item === undefined) open.push(part);
    else {
      close();
      items.push(item);
    }
  }
  close();
  return items;
}

function lowerContent(parts: readonly IrPart[], context: ItemContext): string | JsonObject[] {
  const [only] = parts;
  if (parts.length === 1 && only?.kind === 'text' && only.meta?.[ID] === undefined) return only.text;
  return parts.flatMap((part) => lowerInput(part, context));
}

/** The item of a part that is none of a message's content: a tool result, or what the caller returns for a vendor's own call. */
function lowerResult(part: IrPart, context: ItemContext): JsonObject | undefined {
  if (part.kind === 'tool-result') return lowerToolResult(part, context);
  const own = part.kind === 'vendor' ? part.meta?.[ID] : undefined;
  return own?.type === undefined ? undefined : own;
}

/** No flag tells a failed call here; the text must. */
function lowerToolResult(part: ToolResultPart, context: ItemContext): JsonObject {
  const output = lowerContent(part.parts, context);
  if (part.isError)
    context.notes.push({
      concept: 'tool_result_error',
      fate: 'emulated',
      code: 'error_as_text',
      note: 'the text of the result says that it is an error',
      ...where(part),
    });
  return {
    type: context.customCalls.has(part.callId) ? 'custom_tool_call_output' : 'function_call_output',
    call_id: part.callId,
    output: part.isError ? marked(output) : output,
    ...part.meta?.[ID],
  };
}

function marked(output: string | JsonObject[]): string | JsonObject[] {
  if (typeof output !== 'string') return [{ type: 'input_text', text: 'Error:' }, ...output];
  return /^\W*error/i.test(output) ? output : `Error: ${output}`;
}

/** Texts of one message item, still open for the next text. */
interface OpenMessage {
  readonly key: string;
  readonly content: JsonObject[];
}

function lowerAnswer(parts: readonly IrPart[], context: ItemContext): JsonObject[] {
  const items: JsonObject[] = [];
  let open: OpenMessage | undefined;
  for (const part of parts) {
    if (part.kind !== 'text' && part.kind !== 'refusal') {
      open = undefined;
      items.push(...lowerOutput(part, context));
      continue;
    }
    const { item, ...own } = part.meta?.[ID] ?? {};
    const key = JSON.stringify(item ?? null);
    if (open?.key === key && part.meta?.[ID] !== undefined) {
      open.content.push(outputContent(part, own));
      continue;
    }
    const content = [outputContent(part, own)];
    const plain = part.kind === 'text' && part.meta?.[ID] === undefined;
    items.push({ type: 'message', role: 'assistant', content: plain ? part.text : content, ...(objectIn(item) ?? refusalMembers(part)) });
    open = plain ? undefined : { key, content };
  }
  return items;
}

/** A refusal stands only in an item as the model wrote it, which has an id; no two places of a request make the same one. */
function refusalMembers({ kind, at, text }: Extract<IrPart, { kind: 'text' | 'refusal' }>): JsonObject {
  return kind === 'refusal' ? { id: `msg_${sha256(`${at ?? ''} ${text}`).slice(0, 32)}`, status: 'completed' } : {};
}

/** A piece of a message that the model wrote. */
function outputContent(part: Extract<IrPart, { kind: 'text' | 'refusal' }>, own: JsonObject | undefined): JsonObject {
  return part.kind === 'refusal'
    ? { type: 'refusal', refusal: part.text, ...own }
    : { type: 'output_text', text: part.text, annotations: [], logprobs: [], ...own };
}

function lowerOutput(part: IrPart, context: ItemContext): JsonObject[] {
  switch (part.kind) {
    case 'tool-call':
      return [callItem(part)];
    case 'thinking':
      return lowerThinking(part, context);
    case 'vendor':
      return part.meta?.[ID] === undefined ? [] : [part.meta[ID]];
    default:
      if (isContent(part) && part.kind !== 'text')
        context.notes.push({
          concept: part.kind,
          fate: 'refused',
          code: 'media_of_assistant',
          note: 'an assistant message takes only text here',
          ...where(part),
        });
      return [];
  }
}

/** A call as an item; the arguments of a function stay the text they are. */
export function callItem(part: Omit<ToolCallPart, 'kind'>): JsonObject {
  const { id: callId, name, meta } = part;
  const call = part.custom
    ? { type: 'custom_tool_call', call_id: callId, name, input: part.arguments }
    : { type: 'function_call', call_id: callId, name, arguments: part.arguments.trim() === '' ? '{}' : part.arguments };
  return { ...call, ...meta?.abp, ...meta?.[ID] };
}

/**
 * The vendor takes back only its own items, and only encrypted ones where it stored nothing, as for callers of other dialects.
 * Reasoning never becomes visible text.
 */
function lowerThinking(part: ThinkingPart, context: ItemContext): JsonObject[] {
  const own = part.meta?.[ID];
  const lost = own !== undefined && context.foreign && typeof own.encrypted_content !== 'string';
  if (own !== undefined && !lost) return [{ type: 'reasoning', ...own }];
  const note = lost ? 'the reasoning came without its encrypted state' : 'OpenAI takes back only reasoning that it wrote';
  context.notes.push({ concept: 'thinking_history', fate: 'dropped', code: 'reasoning_not_its_own', note, ...where(part) });
  return [];
}
