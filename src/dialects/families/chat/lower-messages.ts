import type { JsonObject } from '../../../base/json.ts';
import type { IrMessage } from '../../../ir/conversation.ts';
import type { IrPart, ThinkingPart, ToolCallPart, ToolResultPart } from '../../../ir/part.ts';
import type { IrRequest } from '../../../ir/request.ts';
import { compact, joined, otherMembers } from '../../members.ts';
import type { ChatFlavour } from './flavour.ts';
import { lowerContent } from './lower-parts.ts';
import { type Lowering, where } from './lowering.ts';
import { isBeside, ownMedia } from './media.ts';
import { stateOf } from './state.ts';

export function lowerMessages(request: IrRequest, lowering: Lowering): JsonObject[] {
  const { messages } = request;
  const mended = lowering.flavour.needsReasoning(request, lowering.context);
  const lowered = messages.flatMap((message, index) => {
    if (message.role === 'assistant') return [lowerAssistant(message, { ...lowering, mended, last: index === messages.length - 1 })];
    return message.role === 'system' ? [lowerSystem(message, lowering)] : lowerUser(message, lowering);
  });
  return request.output?.kind === 'json' && !mentionsJson(messages) ? [...lowered, askForJson(lowering)] : lowered;
}

/** JSON mode is answered with 400 unless some message says the word. */
function mentionsJson(messages: readonly IrMessage[]): boolean {
  return messages.some(({ parts }) => parts.some((part) => part.kind === 'text' && /json/i.test(part.text)));
}

function askForJson({ notes }: Lowering): JsonObject {
  notes.push({
    concept: 'json_mode',
    fate: 'emulated',
    code: 'json_word_added',
    note: 'a sentence that asks for JSON was added, which the wire demands',
  });
  return { role: 'system', content: 'Answer with a JSON object.' };
}

/** Models of OpenAI's reasoning series know the role as `developer`. */
function lowerSystem(message: IrMessage, lowering: Lowering): JsonObject {
  const role = lowering.context.traits.has('developer-role') ? 'developer' : 'system';
  return compact({ role, content: lowerContent(message.parts, lowering), name: message.name, ...message.meta?.[lowering.flavour.id] });
}

/** Results come first: they must stand right after the calls they answer. */
function lowerUser(message: IrMessage, lowering: Lowering): JsonObject[] {
  const results = message.parts.filter((part) => part.kind === 'tool-result').map((part) => lowerResult(part, lowering));
  const rest = message.parts.filter((part) => part.kind !== 'tool-result');
  if (rest.length === 0 && results.length > 0) return results;
  const content = lowerContent(rest, lowering);
  return [...results, compact({ role: 'user', content, name: message.name, ...message.meta?.[lowering.flavour.id] })];
}

/** The wire has no error flag, so the text says it. */
function lowerResult(part: ToolResultPart, lowering: Lowering): JsonObject {
  const failed: IrPart[] = part.isError ? [{ kind: 'text', text: 'Error: ' }] : [];
  if (part.isError) {
    lowering.notes.push({
      concept: 'tool_result_error',
      fate: 'emulated',
      code: 'error_as_text',
      note: 'the text begins with "Error: "',
      ...where(part),
    });
  }
  const parts = part.parts.filter((inner) => inner.kind !== 'thinking');
  const [only] = parts;
  const content =
    part.isError && (only === undefined || (parts.length === 1 && only.kind === 'text'))
      ? `Error: ${only?.kind === 'text' ? only.text : ''}`
      : lowerContent([...failed, ...parts], lowering);
  return compact({ role: 'tool', tool_call_id: part.callId, name: part.name, content, ...part.meta?.[lowering.flavour.id] });
}

interface AssistantLowering extends Lowering {
  /** A call without reasoning beside it gets a stand-in. */
  readonly mended: boolean;
  readonly last: boolean;
}

function lowerAssistant(message: IrMessage, lowering: AssistantLowering): JsonObject {
  const { flavour, last } = lowering;
  const { parts } = message;
  const calls = parts.flatMap((part, index) =>
    part.kind === 'tool-call' ? [{ ...lowerCall(part, flavour.id), ...callState(parts[index - 1], flavour) }] : [],
  );
  const refusals = parts.filter((part) => part.kind === 'refusal');
  const media = ownMedia(flavour, parts);
  const said = parts.filter(
    (part) => part.kind !== 'tool-call' && part.kind !== 'refusal' && part.kind !== 'thinking' && !isBeside(part, flavour),
  );
  const silent = calls.length === 0 && refusals.length === 0 && Object.keys(media).length === 0;
  const content = said.length === 0 && !silent ? null : lowerContent(said, lowering);
  return compact({
    role: 'assistant',
    content,
    name: message.name,
    refusal: refusals.length === 0 ? undefined : refusals.map((part) => part.text).join(''),
    ...lowerReasoningParts(message, calls.length > 0, lowering),
    tool_calls: calls.length === 0 ? undefined : calls,
    ...media,
    ...(flavour.prefill && last ? { partial: true } : {}),
    ...message.meta?.[flavour.id],
  });
}

/** Another wire carries a call's state in a part before it; what is not the message's belongs to the call. */
function callState(before: IrPart | undefined, flavour: ChatFlavour): JsonObject {
  const own = before?.kind === 'thinking' && before.redacted ? before.meta?.[flavour.id] : undefined;
  return otherMembers(own ?? {}, flavour.state) ?? {};
}

export function lowerCall(part: ToolCallPart, own: string): JsonObject {
  const call: JsonObject = part.custom
    ? { type: 'custom', custom: { name: part.name, input: part.arguments } }
    : { type: 'function', function: { name: part.name, arguments: part.arguments === '' ? '{}' : part.arguments } };
  return joined({ id: part.id, ...call }, part.meta?.[own]);
}

/** Said in place of reasoning that did not come with the history. */
const STAND_IN = 'The reasoning of this step was not kept.';

function lowerReasoningParts(message: IrMessage, calls: boolean, lowering: AssistantLowering): JsonObject {
  const { flavour, context, notes, mended } = lowering;
  const field = flavour.reasoningField ?? (context.traits.has('reasoning-content') ? 'reasoning_content' : undefined);
  const thinking = message.parts.filter((part) => part.kind === 'thinking');
  const state: JsonObject = Object.assign({}, ...thinking.map((part) => ownState(part, flavour) ?? {}));
  if (field === undefined) return context.traits.has('reasoning-details') ? state : leftOut(thinking, lowering);
  const text = thinking.map((part) => part.text).join('');
  if (flavour.sealed && Object.keys(state).length === 0) {
    for (const part of thinking) notes.push(unsealed(part));
    return {};
  }
  if (text !== '' || !calls || !mended) return { ...(text === '' ? {} : { [field]: text }), ...state };
  notes.push({
    concept: 'thinking_history',
    fate: 'emulated',
    code: 'reasoning_stand_in',
    note: 'a stand-in for reasoning that was not kept',
    ...where(message),
  });
  return { [field]: STAND_IN, ...state };
}

/** State of the reasoning that an engine of this dialect wrote. */
function ownState({ meta }: ThinkingPart, flavour: ChatFlavour): JsonObject | undefined {
  return stateOf(flavour, meta?.[flavour.id] ?? {});
}

function leftOut(thinking: readonly ThinkingPart[], { flavour, notes }: AssistantLowering): JsonObject {
  const note = 'engines of this dialect take their reasoning back only where that is known of them';
  const owned = thinking.filter((part) => ownState(part, flavour) !== undefined);
  for (const part of owned) notes.push({ concept: 'carried_state', fate: 'dropped', code: 'no_form', note, ...where(part) });
  return {};
}

function unsealed(part: ThinkingPart): Lowering['notes'][number] {
  return {
    concept: 'thinking_history',
    fate: 'dropped',
    code: 'reasoning_not_its_own',
    note: 'reasoning is taken back only with the seal it came with',
    ...where(part),
  };
}

/** Whether a request holds a part of a kind, in results too. */
export function holds(request: IrRequest, kind: IrPart['kind']): boolean {
  const found = (part: IrPart): boolean => part.kind === kind || (part.kind === 'tool-result' && part.parts.some(found));
  return request.messages.some(({ parts }) => parts.some(found));
}
