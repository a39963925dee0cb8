import { parsed } from './client.ts';

/** What an answer says, whatever dialect it is written in. */
export interface Read {
  readonly text: string;
  readonly thinking: string;
  readonly tools: readonly { readonly name: string; readonly input: string }[];
}

type Loose = Record<string, unknown>;
const object = (value: unknown): Loose => (typeof value === 'object' && value !== null ? { ...value } : {});
const list = (value: unknown): Loose[] => (Array.isArray(value) ? value.map(object) : []);
const text = (value: unknown): string => (typeof value === 'string' ? value : '');

interface Building {
  text: string;
  thinking: string;
  tools: { name: string; input: string }[];
}

/** Reads a body, whole or as server-sent events, as far as it has come. */
export function readAnswer(body: string): Read {
  const into: Building = { text: '', thinking: '', tools: [] };
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
  if (value.type === 'response.output_text.delta') into.text += text(value.delta);
  for (const item of list(value.output)) for (const part of list(item.content)) into.text += text(part.text);
}

function claude(value: Loose, into: Building): void {
  for (const block of list(value.content)) claudeBlock(block, into);
  if (value.type === 'content_block_start') claudeBlock(object(value.content_block), into);
  const delta = object(value.delta);
  into.text += delta.type === 'text_delta' ? text(delta.text) : '';
  into.thinking += text(delta.thinking);
  const tool = into.tools.at(-1);
  if (tool !== undefined) tool.input += text(delta.partial_json);
}

function claudeBlock(block: Loose, into: Building): void {
  if (block.type === 'text') into.text += text(block.text);
  if (block.type === 'thinking') into.thinking += text(block.thinking);
  if (block.type === 'tool_use') {
    const input = Object.keys(object(block.input)).length === 0 ? '' : JSON.stringify(block.input);
    into.tools.push({ name: text(block.name), input });
  }
}

function chat(choice: Loose, into: Building): void {
  const message = { ...object(choice.message), ...object(choice.delta) };
  into.text += text(message.content);
  into.thinking += text(message.reasoning_content);
  for (const call of list(message.tool_calls)) {
    const { name, arguments: input } = object(call.function);
    if (typeof name === 'string') into.tools.push({ name, input: text(input) });
    else {
      const last = into.tools.at(-1);
      if (last !== undefined) last.input += text(input);
    }
  }
}

function gemini(part: Loose, into: Building): void {
  if (part.thought === true) into.thinking += text(part.text);
  else into.text += text(part.text);
  if (part.functionCall !== undefined) {
    const { name, args } = object(part.functionCall);
    into.tools.push({ name: text(name), input: JSON.stringify(args ?? {}) });
  }
}
