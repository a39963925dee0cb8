import { parseShallowObject } from '../base/json-limits.ts';
import { AbpError } from '../contract/errors.ts';
import type { Dialect, FateNote } from '../dialects/dialect.ts';
import type { Concept } from '../ir/concept.ts';
import type { IrMessage } from '../ir/conversation.ts';
import type { IrPart, ToolCallPart, ToolResultPart } from '../ir/part.ts';

/** A conversation changed so that the target's wire takes it, and what was changed. */
export interface Repaired {
  readonly messages: readonly IrMessage[];
  readonly notes: readonly FateNote[];
}

/** Mends what is well formed in the caller's dialect and not in the target's. Each mend is one pass and leaves a note. */
export function repair(messages: readonly IrMessage[], target: Dialect, lacks: ReadonlySet<Concept>): Repaired {
  for (const message of messages) assertSpoken(message);
  const notes: FateNote[] = [];
  const carries = (concept: Concept): boolean => target.names[concept] !== undefined && !lacks.has(concept);
  const takesMedia = target.rules.toolResultMedia && !lacks.has('tool_result_media');
  const last = messages.at(-1);
  // A message without any part says what an empty text says, which not every wire leaves out.
  const filled =
    last?.parts.length === 0 ? [...messages.slice(0, -1), { ...last, parts: [{ kind: 'text' as const, text: '' }] }] : messages;
  const spoken = target.rules.blankText ? filled : withoutBlanks(filled, target.id, notes);
  const opened = withOpening(spoken, target, notes);
  const inPlace = carries('system_in_place') ? opened : systemAsText(opened, notes);
  if (!inPlace.some(hasTools)) return { messages: inPlace, notes };
  const whole = target.rules.argumentsAreObjects ? mendBrokenCalls(inPlace, notes) : inPlace;
  const passes: ((messages: readonly IrMessage[]) => readonly IrMessage[])[] = [
    (list) => answerOrphanCalls(list, notes),
    (list) => textForOrphanResults(list, notes),
    resultsAfterCalls,
    ...(takesMedia ? [] : [(list: readonly IrMessage[]) => mediaAfterResults(list, notes)]),
  ];
  return { messages: passes.reduce((list, pass) => pass(list), whole), notes };
}

/** Only a model calls and thinks, and only a caller returns results: vendors refuse anything else, and most wires have no place for it. */
function assertSpoken({ role, parts }: IrMessage): void {
  const wrong = parts.find(({ kind }) => (role === 'assistant' ? kind === 'tool-result' : kind === 'tool-call' || kind === 'thinking'));
  if (wrong === undefined) return;
  const place = role === 'assistant' ? 'a result stands in a message of the user' : 'calls and reasoning stand in a message of the model';
  throw new AbpError('invalid_request', `${wrong.at ?? 'messages'}: ${place}`, wrong.at === undefined ? {} : { path: wrong.at });
}

function hasTools({ parts }: IrMessage): boolean {
  return parts.some(({ kind }) => kind === 'tool-call' || kind === 'tool-result');
}

/** We write this where the wire takes no message without words. */
const STAND_IN = '(no text)';
/** We let the user say this where the wire wants somebody to speak, or the user to speak first. */
const OPENING = '(The conversation begins here.)';

/** A conversation of instructions alone, or one that the assistant begins, gets a turn of the user where the wire wants one. */
function withOpening(messages: readonly IrMessage[], { rules }: Dialect, notes: FateNote[]): readonly IrMessage[] {
  const at = messages.findIndex(({ role }) => role !== 'system');
  const first = messages[at];
  const missing = rules.opening !== 'anyone' && (first === undefined || (rules.opening === 'user' && first.role === 'assistant'));
  if (!missing) return messages;
  notes.push({ concept: 'text', fate: 'emulated', code: 'turn_added', note: 'a turn of the user was added', at: '(first turn)' });
  const turn: IrMessage = { role: 'user', parts: [{ kind: 'text', text: OPENING }] };
  return first === undefined ? [...messages, turn] : [...messages.slice(0, at), turn, ...messages.slice(at)];
}

/** Texts that say nothing go, and so do messages of nothing else; the last message is what the engine answers, so it gets a stand-in. */
function withoutBlanks(messages: readonly IrMessage[], target: string, notes: FateNote[]): readonly IrMessage[] {
  // A text of the target's own may carry its state.
  const isBlank = (part: IrPart): boolean => part.kind === 'text' && part.text.trim() === '' && part.meta?.[target] === undefined;
  if (!messages.some(({ parts }) => parts.length === 0 || parts.some(isBlank))) return messages;
  return messages.flatMap((message, index) => {
    const parts = message.parts.filter((part) => !isBlank(part));
    if (parts.length === 0 && index === messages.length - 1) return [standIn(message, notes)];
    if (parts.length === message.parts.length) return parts.length === 0 ? [] : [message];
    for (const part of message.parts.filter(isBlank))
      notes.push({
        concept: message.role === 'system' ? 'system' : 'text',
        fate: 'renamed',
        code: 'says_nothing',
        note: 'left out: it says nothing',
        ...where(part),
      });
    return parts.length === 0 ? [] : [{ ...message, parts }];
  });
}

function standIn(message: IrMessage, notes: FateNote[]): IrMessage {
  const note = `the engine takes no message without words; "${STAND_IN}" was sent`;
  notes.push({ concept: message.role === 'system' ? 'system' : 'text', fate: 'emulated', code: 'blank_stand_in', note, ...where(message) });
  return { ...message, parts: [{ kind: 'text', text: STAND_IN }] };
}

/** An instruction inside the conversation becomes text that says what it is. */
function systemAsText(messages: readonly IrMessage[], notes: FateNote[]): readonly IrMessage[] {
  const first = messages.findIndex((message) => message.role !== 'system');
  return messages.map((message, index): IrMessage => {
    if (message.role !== 'system' || first === -1 || index < first) return message;
    notes.push({
      concept: 'system_in_place',
      fate: 'emulated',
      code: 'system_as_text',
      note: 'sent as labelled text of the user',
      ...where(message),
    });
    const label: IrPart = { kind: 'text', text: '[system instruction]\n' };
    return { ...message, role: 'user', parts: [label, ...message.parts] };
  });
}

/** Where the text of arguments stands that are no JSON object. */
const UNREADABLE = 'unreadable_arguments';

/**
 * A model writes arguments that are no JSON now and then, or is cut off in them, and the conversation goes on with what became of the
 * call. Wires that take an object get the text in one, so that such a call does not end the conversation.
 */
function mendBrokenCalls(messages: readonly IrMessage[], notes: FateNote[]): readonly IrMessage[] {
  const isBroken = (part: IrPart): part is ToolCallPart =>
    part.kind === 'tool-call' && part.custom !== true && part.arguments.trim() !== '' && parseShallowObject(part.arguments) === undefined;
  return messages.map((message) => {
    if (!message.parts.some(isBroken)) return message;
    const parts = message.parts.map((part) => {
      if (!isBroken(part)) return part;
      const note = `the arguments are no JSON object; their text stands in "${UNREADABLE}"`;
      notes.push({ concept: 'tool_call', fate: 'emulated', code: 'arguments_as_text', note, ...where(part) });
      return { ...part, arguments: JSON.stringify({ [UNREADABLE]: part.arguments }) };
    });
    return { ...message, parts };
  });
}

/** Where each call's last result stands. */
function resultPlaces(messages: readonly IrMessage[]): ReadonlyMap<string, number> {
  const places = new Map<string, number>();
  messages.forEach(({ parts }, index) => {
    for (const part of parts) if (part.kind === 'tool-result') places.set(part.callId, index);
  });
  return places;
}

/** Every call needs its result right after it; a call that was cut off gets one that says so. */
function answerOrphanCalls(messages: readonly IrMessage[], notes: FateNote[]): readonly IrMessage[] {
  const places = resultPlaces(messages);
  return messages.flatMap((message, index) => {
    const calls = message.role === 'assistant' ? message.parts.filter((part) => part.kind === 'tool-call') : [];
    const missing = calls.filter(({ id }) => (places.get(id) ?? -1) <= index);
    if (missing.length === 0 || index === messages.length - 1) return [message];
    for (const call of missing)
      notes.push({
        concept: 'tool_call',
        fate: 'emulated',
        code: 'result_added',
        note: 'the call had no result; one was added that says so',
        ...where(call),
      });
    const results = missing.map(
      (call): ToolResultPart => ({
        kind: 'tool-result',
        callId: call.id,
        name: call.name,
        isError: true,
        parts: [{ kind: 'text', text: 'No result was recorded.' }],
      }),
    );
    return [message, { role: 'user', parts: results }];
  });
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
  notes.push({
    concept: 'tool_result',
    fate: 'emulated',
    code: 'result_as_text',
    note: 'its call is not in the conversation; sent as text',
    ...where(part),
  });
  if (part.isError)
    notes.push({
      concept: 'tool_result_error',
      fate: 'emulated',
      code: 'error_as_text',
      note: 'the text says that it failed',
      ...where(part),
    });
  return [{ kind: 'text', text: `[${part.isError ? 'failed tool result' : 'tool result'} of ${part.callId}]\n` }, ...part.parts];
}

/** Results stand first in the turn right after their calls: that is the one place every wire takes them. */
function resultsAfterCalls(messages: readonly IrMessage[]): readonly IrMessage[] {
  let list = messages;
  for (let at = 0; at < list.length; at += 1) {
    const message = list[at];
    const next = list[at + 1];
    if (message?.role !== 'assistant' || isFollowed(message, next)) continue;
    const results = resultsOf(message, list.slice(at + 1));
    if (results.length === 0) continue;
    const taken = new Set<IrPart>(results);
    const beside = next?.role === 'user' ? next : { role: 'user' as const, parts: [] };
    const turn = { ...beside, parts: [...results, ...beside.parts.filter((part) => !taken.has(part))] };
    const rest = list.slice(beside === next ? at + 2 : at + 1).flatMap((one) => without(one, taken));
    list = [...list.slice(0, at + 1), turn, ...rest];
  }
  return list;
}

/** Whether the next message begins with the results of the calls, in their order. */
function isFollowed(message: IrMessage, next: IrMessage | undefined): boolean {
  const calls = message.parts.filter((part) => part.kind === 'tool-call');
  return calls.every(({ id }, index) => {
    const part = next?.parts[index];
    return part?.kind === 'tool-result' && part.callId === id;
  });
}

/** The first result of each call among the later messages; in a long conversation ids may repeat. */
function resultsOf(message: IrMessage, later: readonly IrMessage[]): ToolResultPart[] {
  const results = later.flatMap((one) => one.parts).filter((part) => part.kind === 'tool-result');
  return message.parts.flatMap((part) => {
    const result = part.kind === 'tool-call' ? results.find(({ callId }) => callId === part.id) : undefined;
    return result === undefined ? [] : [result];
  });
}

/** The message without some parts; nothing when none is left. */
function without(message: IrMessage, taken: ReadonlySet<IrPart>): IrMessage[] {
  const parts = message.parts.filter((part) => !taken.has(part));
  if (parts.length === message.parts.length) return [message];
  return parts.length === 0 ? [] : [{ ...message, parts }];
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
  notes.push({
    concept: 'tool_result_media',
    fate: 'emulated',
    code: 'media_after_result',
    note: 'sent after the result, in the same turn',
    ...where(part),
  });
  const first = media.length + 1;
  media.push({ kind: 'text', text: `[media ${first}–${first + found.length - 1} of tool result ${part.callId}]\n` }, ...found);
  const rest = part.parts.filter((inner) => !MEDIA.has(inner.kind));
  return { ...part, parts: rest.length === 0 ? [{ kind: 'text', text: 'The result is media; it follows.' }] : rest };
}

function where(node: { readonly at?: string }): { at?: string } {
  return node.at === undefined ? {} : { at: node.at };
}
