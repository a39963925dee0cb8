import { parsed } from '../base/parsed.ts';

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly input: string;
}

/** What an answer says, whatever dialect it is written in. */
export interface Read {
  readonly text: string;
  readonly thinking: string;
  /** The vendor's mark on its thinking, which must come back with it. */
  readonly signature: string;
  readonly tools: readonly ToolCall[];
}

type Loose = Record<string, unknown>;
const object = (value: unknown): Loose => (typeof value === 'object' && value !== null ? { ...value } : {});
const list = (value: unknown): Loose[] => (Array.isArray(value) ? value.map(object) : []);
const text = (value: unknown): string => (typeof value === 'string' ? value : '');

interface Building {
  text: string;
  thinking: string;
  signature: string;
  tools: { id: string; name: string; input: string }[];
}

/** Reads a body, whole or as server-sent events, as far as it has come. */
export function readAnswer(body: string): Read {
  const into: Building = { text: '', thinking: '', signature: '', tools: [] };
  const events = body.includes('data:')
    ? body
        .split('\n')
        .filter((line) => line.startsWith('data:'))
        .map((line) => line.slice(5).trim())
    : [body];
  for (const event of events) {
    const value = parsed(event);
    if (typeof value === 'object') take(object(value), into);
  }
  return into;
}

function take(value: Loose, into: Building): void {
  claude(value, into);
  for (const choice of list(value.choices)) chat(choice, into);
  for (const candidate of list(value.candidates)) for (const part of list(object(candidate.content).parts)) gemini(part, into);
  responses(value, into);
}

function claude(value: Loose, into: Building): void {
  for (const block of list(value.content)) claudeBlock(block, into);
  if (value.type === 'content_block_start') claudeBlock(object(value.content_block), into);
  if (value.type !== 'content_block_delta') return;
  const delta = object(value.delta);
  into.text += delta.type === 'text_delta' ? text(delta.text) : '';
  into.thinking += text(delta.thinking);
  into.signature += text(delta.signature);
  addInput(into, text(delta.partial_json));
}

function claudeBlock(block: Loose, into: Building): void {
  if (block.type === 'text') into.text += text(block.text);
  if (block.type === 'thinking') {
    into.thinking += text(block.thinking);
    into.signature += text(block.signature);
  }
  if (block.type === 'tool_use') {
    const input = Object.keys(object(block.input)).length === 0 ? '' : JSON.stringify(block.input);
    into.tools.push({ id: text(block.id), name: text(block.name), input });
  }
}

function chat(choice: Loose, into: Building): void {
  const message = { ...object(choice.message), ...object(choice.delta) };
  into.text += text(message.content);
  into.thinking += text(message.reasoning_content);
  for (const call of list(message.tool_calls)) {
    const { name, arguments: input } = object(call.function);
    if (typeof name === 'string') into.tools.push({ id: text(call.id), name, input: text(input) });
    else addInput(into, text(input));
  }
}

function gemini(part: Loose, into: Building): void {
  if (part.thought === true) into.thinking += text(part.text);
  else into.text += text(part.text);
  if (part.functionCall !== undefined) {
    const { id, name, args } = object(part.functionCall);
    into.tools.push({ id: text(id), name: text(name), input: JSON.stringify(args ?? {}) });
  }
}

/** A stream tells everything piece by piece and then once more as a whole; the whole counts where nothing came before. */
function responses(value: Loose, into: Building): void {
  if (value.type === 'response.output_text.delta') into.text += text(value.delta);
  if (value.type === 'response.reasoning_summary_text.delta') into.thinking += text(value.delta);
  if (value.type === 'response.output_item.done') responsesCall(object(value.item), into);
  for (const item of list(value.output)) {
    for (const part of list(item.content)) into.text += text(part.text);
    responsesCall(item, into);
  }
}

function responsesCall(item: Loose, into: Building): void {
  if (item.type !== 'function_call') return;
  into.tools.push({ id: text(item.call_id), name: text(item.name), input: text(item.arguments) });
}

function addInput(into: Building, piece: string): void {
  const last = into.tools.at(-1);
  if (last !== undefined) last.input += piece;
}
