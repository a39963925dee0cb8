import type { IrPart } from './part.ts';
import type { IrRequest, IrTool } from './request.ts';

const CHARACTERS_PER_TOKEN = 4;
/** A flat price: media are not looked into. */
const TOKENS_PER_MEDIUM = 256;

/** An estimate that needs no vocabulary: four UTF-16 units are a token, a started token counts. The sim counts by it, and so does mapped token counting. */
export function countTokens(text: string): number {
  return tokensIn(text.length);
}

/** The same for a text of which only the length was kept. */
export function tokensIn(units: number): number {
  return Math.ceil(units / CHARACTERS_PER_TOKEN);
}

/** The longest start of `text` that is at most `tokens` long and does not split a surrogate pair. */
export function cutToTokens(text: string, tokens: number): string {
  const room = Math.max(0, Math.floor(tokens)) * CHARACTERS_PER_TOKEN;
  if (text.length <= room) return text;
  return text.slice(0, endsInHighSurrogate(text, room) ? room - 1 : room);
}

function endsInHighSurrogate(text: string, end: number): boolean {
  const unit = text.charCodeAt(end - 1);
  return unit >= 0xd800 && unit <= 0xdbff;
}

/** Tokens a model would read for this request: all message content, system prompt included, and all tool declarations. */
export function countRequest(request: IrRequest): number {
  const messages = sum(request.messages, (message) => sum(message.parts, partTokens));
  return messages + sum(request.tools, toolTokens);
}

function partTokens(part: IrPart): number {
  switch (part.kind) {
    case 'text':
    case 'refusal':
    case 'thinking':
      return countTokens(part.text);
    case 'tool-call':
      return countTokens(part.name + part.arguments);
    case 'tool-result':
      return sum(part.parts, partTokens);
    case 'image':
    case 'document':
    case 'audio':
    case 'video':
      return TOKENS_PER_MEDIUM;
    case 'vendor':
      return countTokens(JSON.stringify(part.meta ?? {}));
  }
}

function toolTokens(tool: IrTool): number {
  switch (tool.kind) {
    case 'function':
      return countTokens(tool.name + (tool.description ?? '') + JSON.stringify(tool.schema));
    case 'custom':
      return countTokens(tool.name + (tool.description ?? '') + JSON.stringify(tool.format ?? {}));
    case 'hosted':
      return countTokens(tool.name + JSON.stringify(tool.meta));
  }
}

function sum<T>(items: readonly T[], count: (item: T) => number): number {
  return items.reduce((total, item) => total + count(item), 0);
}
