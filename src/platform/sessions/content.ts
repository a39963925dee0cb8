import { type Json, type JsonObject, parseJson } from '../../base/json.ts';
import type { IrPart } from '../../ir/part.ts';

/** Parts of a stored message. */
export function storedParts(parts: Json | undefined): readonly IrPart[] {
  // Only this process's own code writes them, as JSON of parts.
  return Array.isArray(parts) ? (parts as unknown as readonly IrPart[]) : [];
}

/** Parts as JSON, for an event. */
export function partsJson(parts: readonly IrPart[]): JsonObject[] {
  // Parts are JSON by their types; interfaces have no index signature, which JsonObject asks for.
  return parts as unknown as JsonObject[];
}

/** Parts as the API shows them: what vendors keep for themselves is left out. */
export function contentOf(parts: readonly IrPart[]): JsonObject[] {
  return parts.map(shownPart);
}

function shownPart(part: IrPart): JsonObject {
  switch (part.kind) {
    case 'text':
    case 'refusal':
      return { type: part.kind, text: part.text };
    case 'thinking':
      return { type: 'thinking', text: part.text, ...(part.redacted ? { redacted: true } : {}) };
    case 'tool-call':
      return { type: 'tool_call', id: part.id, name: part.name, arguments: argumentsOf(part.arguments) };
    case 'tool-result':
      return { type: 'tool_result', tool_call_id: part.callId, content: contentOf(part.parts) };
    case 'image':
    case 'document':
    case 'audio':
    case 'video':
      return { type: part.kind, ...sourceOf(part.source) };
    case 'vendor':
      return { type: 'vendor', dialect: part.dialect, vendor_type: part.type };
  }
}

function argumentsOf(text: string): Json {
  const parsed = parseJson(text);
  return parsed.ok ? parsed.value : text;
}

function sourceOf(source: Extract<IrPart, { kind: 'image' }>['source']): JsonObject {
  switch (source.kind) {
    case 'url':
      return { url: source.url };
    case 'file':
      return { file_id: source.fileId };
    case 'base64':
      return { base64: source.data, media_type: source.mediaType };
  }
}
