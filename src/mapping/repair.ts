import type { Dialect, FateNote } from '../dialects/dialect.ts';
import type { Concept } from '../ir/concept.ts';
import type { IrMessage } from '../ir/conversation.ts';
import type { IrPart, ToolResultPart } from '../ir/part.ts';

/** A conversation changed so that the target's wire takes it, and what was changed. */
export interface Repaired {
  readonly messages: readonly IrMessage[];
  readonly notes: readonly FateNote[];
}

/** Mends what is well formed in the caller's dialect and not in the target's. Each mend is one pass and leaves a note. */
export function repair(messages: readonly IrMessage[], target: Dialect, lacks: ReadonlySet<Concept>): Repaired {
  const notes: FateNote[] = [];
  const carries = (concept: Concept): boolean => target.names[concept] !== undefined && !lacks.has(concept);
  const passes: ((messages: readonly IrMessage[]) => readonly IrMessage[])[] = [
    ...(carries('system_in_place') ? [] : [(list: readonly IrMessage[]) => systemAsText(list, notes)]),
    (list) => answerOrphanCalls(list, notes),
    (list) => textForOrphanResults(list, notes),
    ...(target.rules.toolResultMedia && !lacks.has('tool_result_media')
      ? []
      : [(list: readonly IrMessage[]) => mediaAfterResults(list, notes)]),
  ];
  return { messages: passes.reduce((list, pass) => pass(list), messages), notes };
}

/** An instruction inside the conversation becomes text that says what it is. */
function systemAsText(messages: readonly IrMessage[], notes: FateNote[]): readonly IrMessage[] {
  const first = messages.findIndex((message) => message.role !== 'system');
  return messages.map((message, index): IrMessage => {
    if (message.role !== 'system' || first === -1 || index < first) return message;
    notes.push({ concept: 'system_in_place', fate: 'emulated', note: 'sent as labelled text of the user', ...where(message) });
    const label: IrPart = { kind: 'text', text: '[system instruction]\n' };
    return { ...message, role: 'user', parts: [label, ...message.parts] };
  });
}

function resultIds(message: IrMessage | undefined): Set<string> {
  return new Set(message?.parts.flatMap((part) => (part.kind === 'tool-result' ? [part.callId] : [])));
}

/** Every call needs its result right after it; a call that was cut off gets one that says so. */
function answerOrphanCalls(messages: readonly IrMessage[], notes: FateNote[]): readonly IrMessage[] {
  const out: IrMessage[] = [];
  messages.forEach((message, index) => {
    out.push(message);
    const calls = message.role === 'assistant' ? message.parts.filter((part) => part.kind === 'tool-call') : [];
    const later = messages.slice(index + 1).map(resultIds);
    const missing = calls.filter((call) => !later.some((ids) => ids.has(call.id)));
    if (missing.length === 0 || index === messages.length - 1) return;
    for (const call of missing)
      notes.push({ concept: 'tool_call', fate: 'emulated', note: 'the call had no result; one was added that says so', ...where(call) });
    const results = missing.map(
      (call): ToolResultPart => ({
        kind: 'tool-result',
        callId: call.id,
        name: call.name,
        isError: true,
        parts: [{ kind: 'text', text: 'No result was recorded.' }],
      }),
    );
    out.push({ role: 'user', parts: results });
  });
  return out;
}

/** A result whose call is not in the conversation (cut history) becomes text. */
function textForOrphanResults(messages: readonly IrMessage[], notes: FateNote[]): readonly IrMessage[] {
  const known = new Set<string>();
  return messages.map((message) => {
    for (const part of message.parts) if (part.kind === 'tool-call') known.add(part.id);
    if (!message.parts.some((part) => part.kind === 'tool-result' && !known.has(part.callId))) return message;
    return {
      ...message,
      parts: message.parts.flatMap((part) => (part.kind === 'tool-result' && !known.has(part.callId) ? orphanText(part, notes) : [part])),
    };
  });
}

function orphanText(part: ToolResultPart, notes: FateNote[]): IrPart[] {
  notes.push({ concept: 'tool_result', fate: 'emulated', note: 'its call is not in the conversation; sent as text', ...where(part) });
  return [{ kind: 'text', text: '[tool result]\n' }, ...part.parts];
}

const MEDIA = new Set(['image', 'document', 'audio', 'video']);

/** Where a result holds text only, its media follow it in the same turn. */
function mediaAfterResults(messages: readonly IrMessage[], notes: FateNote[]): readonly IrMessage[] {
  return messages.map((message) => {
    const media: IrPart[] = [];
    const parts = message.parts.map((part) => (part.kind === 'tool-result' ? withoutMedia(part, media, notes) : part));
    return media.length === 0 ? message : { ...message, parts: [...parts, ...media] };
  });
}

function withoutMedia(part: ToolResultPart, media: IrPart[], notes: FateNote[]): ToolResultPart {
  const found = part.parts.filter((inner) => MEDIA.has(inner.kind));
  if (found.length === 0) return part;
  notes.push({ concept: 'tool_result_media', fate: 'emulated', note: 'sent after the result, in the same turn', ...where(part) });
  const first = media.length + 1;
  media.push({ kind: 'text', text: `[media ${first}–${first + found.length - 1} of tool result ${part.callId}]\n` }, ...found);
  const rest = part.parts.filter((inner) => !MEDIA.has(inner.kind));
  return { ...part, parts: rest.length === 0 ? [{ kind: 'text', text: 'The result is media; it follows.' }] : rest };
}

function where(node: { readonly at?: string }): { at?: string } {
  return node.at === undefined ? {} : { at: node.at };
}
