import type { Dialect, FateNote } from '../dialects/dialect.ts';
import { findDialect } from '../dialects/index.ts';
import type { IrMessage } from '../ir/conversation.ts';
import type { IrPart, VendorPart } from '../ir/part.ts';
import type { IrRequest } from '../ir/request.ts';
import { pastLabelOf, unknownLabel } from './answers/labels.ts';

/**
 * Earlier answers as the target's wire can take them. Callers send them back as they came, with what only the engine of that answer could
 * write: tools that it ran, media that it made, and with the results of tools that only that engine calls. None of that is a wish of the
 * caller, so it becomes labelled text.
 */
export function readableHistory(request: IrRequest, target: Dialect): { readonly request: IrRequest; readonly notes: readonly FateNote[] } {
  const notes: FateNote[] = [];
  if (!request.messages.some((message) => message.parts.some((part) => isForeign(message, part, target)))) return { request, notes };
  const messages = request.messages.map((message) => ({
    ...message,
    parts: message.parts.map((part) => (isForeign(message, part, target) ? readable(part, notes) : part)),
  }));
  return { request: { ...request, messages }, notes };
}

const MEDIA = new Set(['image', 'audio', 'video', 'document']);

function isForeign({ role }: IrMessage, part: IrPart, { id, rules }: Dialect): boolean {
  if (part.kind === 'vendor') return part.dialect !== id && (role === 'assistant' || part.result === true);
  if (role !== 'assistant') return false;
  return MEDIA.has(part.kind) && !rules.assistantMedia;
}

function readable(part: IrPart, notes: FateNote[]): IrPart {
  const at = part.at === undefined ? {} : { at: part.at };
  const note = 'sent as labelled text: it belongs to the engine that wrote it';
  for (const concept of conceptsOf(part)) notes.push({ concept, fate: 'emulated', code: 'block_as_text', note, ...at });
  return { kind: 'text', text: part.kind === 'vendor' ? textOf(part) : `[generated ${part.kind}]`, ...at };
}

function conceptsOf(part: IrPart): readonly FateNote['concept'][] {
  if (part.kind === 'vendor') return ['vendor_block', 'stored_state'];
  return part.kind === 'image' || part.kind === 'audio' || part.kind === 'video' || part.kind === 'document'
    ? [part.kind, 'stored_file', 'media_type']
    : [];
}

function textOf(part: VendorPart): string {
  const shown = findDialect(part.dialect)?.answers.show(part);
  return shown === undefined ? unknownLabel(part.type, part.meta?.[part.dialect]) : pastLabelOf(shown);
}
