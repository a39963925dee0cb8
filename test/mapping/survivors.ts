import { canonicalJson } from '../../src/base/canonical-json.ts';
import { type Json, parseJson } from '../../src/base/json.ts';
import type { Dialect, FateNote } from '../../src/dialects/dialect.ts';
import type { Concept } from '../../src/ir/concept.ts';
import type { IrMessage } from '../../src/ir/conversation.ts';
import type { IrPart, ToolResultPart } from '../../src/ir/part.ts';
import type { IrRequest } from '../../src/ir/request.ts';

/** What a dialect declares about the way through it: its table of names and the notes of one request. */
export interface Declared {
  readonly dialect: Dialect;
  readonly notes: readonly FateNote[];
}

/** Whether the table or a note says that a concept does not arrive as it was. */
function isLost({ dialect, notes }: Declared, concept: Concept): boolean {
  return dialect.names[concept] === undefined || notes.some((note) => note.concept === concept);
}

/** The conversation as a list of what was said, in order, whatever messages it is cut into; declared losses are left out. */
export function saidIn(messages: readonly IrMessage[], declared: Declared): string[] {
  return messages.flatMap(({ role, parts }) => parts.flatMap((part) => saidBy(role, part, declared)));
}

function saidBy(role: string, part: IrPart, declared: Declared): string[] {
  switch (part.kind) {
    case 'text':
      return part.text === '' ? [] : [`${role} says ${part.text}`];
    case 'thinking':
      return isLost(declared, 'thinking_history') ? [] : [`${role} thinks ${part.text}`];
    case 'image':
    case 'document':
      return isLost(declared, part.kind) ? [] : [`${role} shows ${part.kind} ${canonicalJson(mediumOf(part))}`];
    case 'tool-call':
      return [`${role} calls ${part.name} ${part.id} ${canonicalJson(jsonIn(part.arguments))}`];
    case 'tool-result':
      return [
        `${role} returns ${part.callId} ${part.isError} ${textsOf(part)}`,
        ...part.parts.filter((inner) => inner.kind !== 'text').flatMap((inner) => saidBy(role, inner, declared)),
      ];
    default:
      return [`${role} ${part.kind}`];
  }
}

/** A wire may guess the type of an address by its end. */
function mediumOf({ source }: Extract<IrPart, { kind: 'image' | 'document' }>): Json {
  return source.kind === 'url' ? { url: source.url } : { ...source };
}

function jsonIn(text: string): Json {
  const parsed = parseJson(text);
  if (!parsed.ok) throw new Error(`not JSON: ${text}`);
  return parsed.value;
}

/** Texts of a result are one text to the model, with or without a line between them. */
function textsOf(part: ToolResultPart): string {
  return part.parts
    .map((inner) => (inner.kind === 'text' ? inner.text : ''))
    .join('')
    .replaceAll('\n', '');
}

/** The same conversation where the wire has no error flag: a note says that the text says it. */
export function withoutFlags(messages: readonly IrMessage[], { notes }: Declared): readonly IrMessage[] {
  if (!notes.some(({ concept }) => concept === 'tool_result_error')) return messages;
  return messages.map((message) => ({ ...message, parts: message.parts.map(worded) }));
}

function worded(part: IrPart): IrPart {
  if (part.kind !== 'tool-result') return part;
  const parts = part.parts.map((inner) => (inner.kind === 'text' ? { ...inner, text: inner.text.replace(/^Error: ?/, '') } : inner));
  return { ...part, isError: false, parts };
}

const FIELDS: readonly (readonly [Concept, (request: IrRequest) => unknown])[] = [
  ['max_tokens', ({ maxTokens }) => maxTokens],
  ['stop_sequences', ({ stop }) => stop],
  ['temperature', ({ sampling }) => sampling.temperature],
  ['top_p', ({ sampling }) => sampling.topP],
  ['seed', ({ sampling }) => sampling.seed],
  ['count', ({ sampling }) => sampling.count],
  ['logprobs', ({ sampling }) => [sampling.logprobs, sampling.topLogprobs]],
  // Automatic choice and parallel calls are what happens without a word; no call at all is never a parallel one.
  ['tool_choice', ({ toolChoice }) => (toolChoice?.kind === 'auto' ? undefined : toolChoice)],
  ['parallel_tool_calls', ({ parallelToolCalls, toolChoice }) => parallelToolCalls === false && toolChoice?.kind !== 'none'],
  ['tool', ({ tools }) => tools.map((tool) => (tool.kind === 'function' ? [tool.name, tool.description, tool.schema] : []))],
];

/** The parameters that must arrive, by concept. */
export function parametersOf(request: IrRequest, declared: Declared): Record<string, unknown> {
  const kept = FIELDS.filter(([concept]) => !isLost(declared, concept));
  return { stream: request.stream, ...Object.fromEntries(kept.map(([concept, read]) => [concept, read(request)])) };
}
