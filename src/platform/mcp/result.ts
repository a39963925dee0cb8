import { isJsonObject, type Json } from '../../base/json.ts';
import type { ToolOutcome } from '../tools/tool.ts';

/** With the words about the cut it stays below what a model gets of one result. */
const MAX_CHARACTERS = 60 * 1024;

/** The answer of an MCP server, for the model: its structured content, else its text; what is neither is named. */
export function outcomeOf(result: object): ToolOutcome {
  // The SDK parsed it from JSON.
  const { content, structuredContent, isError } = result as { content?: Json; structuredContent?: Json; isError?: boolean };
  const text = textOf(Array.isArray(content) ? content : []);
  if (isError === true) return { error: text === '' ? 'the tool failed without a word' : text };
  if (structuredContent === undefined || structuredContent === null) return { output: text };
  const size = JSON.stringify(structuredContent).length;
  return size <= MAX_CHARACTERS ? { output: structuredContent } : { output: cut(JSON.stringify(structuredContent)) };
}

function textOf(parts: readonly Json[]): string {
  return cut(parts.map(partText).join('\n'));
}

function partText(part: Json): string {
  if (!isJsonObject(part)) return '';
  if (typeof part.text === 'string') return part.text;
  if (part.type === 'resource' && isJsonObject(part.resource ?? null)) return resourceText(part.resource ?? null);
  if (part.type === 'resource_link') return String(part.uri ?? '');
  return `[${String(part.type)}${typeof part.mimeType === 'string' ? ` ${part.mimeType}` : ''}, left out]`;
}

function resourceText(resource: Json): string {
  if (!isJsonObject(resource)) return '';
  return typeof resource.text === 'string' ? resource.text : `[resource ${String(resource.uri ?? '')}, left out]`;
}

function cut(text: string): string {
  return text.length <= MAX_CHARACTERS ? text : `${text.slice(0, MAX_CHARACTERS)}\n[cut: the answer has ${text.length} characters]`;
}
