import type { FateNote } from '../dialects/dialect.ts';
import { plainMediaType } from '../dialects/media-types.ts';
import type { IrMessage } from '../ir/conversation.ts';
import type { IrPart } from '../ir/part.ts';

/** Media by the names that every vendor knows: programs write `image/jpg`, and data URLs have parameters. */
export function namedMedia(messages: readonly IrMessage[]): {
  readonly messages: readonly IrMessage[];
  readonly notes: readonly FateNote[];
} {
  const notes: FateNote[] = [];
  if (!messages.some(({ parts }) => parts.some(isMisnamed))) return { messages, notes };
  return { messages: messages.map((message) => ({ ...message, parts: message.parts.map((part) => named(part, notes)) })), notes };
}

function isMisnamed(part: IrPart): boolean {
  if (part.kind === 'tool-result') return part.parts.some(isMisnamed);
  const type = typeOf(part);
  return type !== undefined && plainMediaType(type) !== type;
}

function typeOf(part: IrPart): string | undefined {
  return 'source' in part && part.source.kind === 'base64' ? part.source.mediaType : undefined;
}

function named(part: IrPart, notes: FateNote[]): IrPart {
  if (!isMisnamed(part)) return part;
  if (part.kind === 'tool-result') return { ...part, parts: part.parts.map((inner) => named(inner, notes)) };
  if (!('source' in part) || part.source.kind !== 'base64') return part;
  const mediaType = plainMediaType(part.source.mediaType);
  const at = part.at === undefined ? {} : { at: part.at };
  notes.push({ concept: part.kind, fate: 'renamed', code: 'media_type_named', note: `sent as ${mediaType}`, ...at });
  return { ...part, source: { ...part.source, mediaType } };
}
