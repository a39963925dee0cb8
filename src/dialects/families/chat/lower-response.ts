import { isJsonObject, type Json, type JsonObject, listIn } from '../../../base/json.ts';
import { foreignMeta, packMeta } from '../../../ir/carrier.ts';
import type { TokenLogprob } from '../../../ir/logprob.ts';
import type { Citation, IrPart, VendorMeta } from '../../../ir/part.ts';
import type { FinishReason, IrResponse } from '../../../ir/response.ts';
import type { IrUsage } from '../../../ir/usage.ts';
import type { AnswerContext } from '../../dialect.ts';
import { compact } from '../../members.ts';
import { citationMembers } from '../../openai-citations.ts';
import { lowerLogprobs } from '../../openai-logprobs.ts';
import { callExtra, DETAILS, detailOf } from './details.ts';
import type { ChatFlavour } from './flavour.ts';
import { lowerCall } from './lower-messages.ts';
import { ownMedia } from './media.ts';

const REASON: Readonly<Record<FinishReason, string>> = {
  stop: 'stop',
  'stop-sequence': 'stop',
  length: 'length',
  'tool-calls': 'tool_calls',
  refusal: 'content_filter',
  'content-filter': 'content_filter',
  // A paused turn is not finished; the caller must see that something is missing.
  pause: 'length',
  'context-window': 'length',
  error: 'stop',
};

/** A refusal the caller can read ends with `stop`; one without words is a filter's. */
export function reasonOf(finish: FinishReason, refused: boolean): string {
  return finish === 'refusal' && refused ? 'stop' : REASON[finish];
}

export function lowerUsage(flavour: ChatFlavour, usage: IrUsage): JsonObject {
  const cached = usage.cacheReadTokens;
  return {
    prompt_tokens: usage.inputTokens,
    completion_tokens: usage.outputTokens,
    total_tokens: usage.inputTokens + usage.outputTokens,
    ...(flavour.usage === 'choice' && cached > 0 ? { cached_tokens: cached } : {}),
    prompt_tokens_details: {
      cached_tokens: cached,
      ...(usage.cacheWriteTokens > 0 ? { cache_write_tokens: usage.cacheWriteTokens } : {}),
      ...(usage.details?.audioInputTokens === undefined ? {} : { audio_tokens: usage.details.audioInputTokens }),
    },
    completion_tokens_details: {
      reasoning_tokens: usage.thinkingTokens,
      ...(usage.details?.audioOutputTokens === undefined ? {} : { audio_tokens: usage.details.audioOutputTokens }),
    },
  };
}

/** The tier that served the call, where its price is another; `fast` is Claude's own. */
export function tierOf({ details }: IrUsage): JsonObject {
  return details?.tier === undefined || details.tier === 'fast' ? {} : { service_tier: details.tier };
}

export function answerId(context: AnswerContext, id: string | undefined): string {
  return id ?? `chatcmpl-${context.runHex}`;
}

/** A whole Chat answer. */
export function lowerChatResponse(flavour: ChatFlavour, response: IrResponse, context: AnswerContext): JsonObject {
  return {
    id: answerId(context, response.id),
    object: 'chat.completion',
    created: Math.floor(context.createdAtMs / 1000),
    model: context.model,
    choices: [response, ...(response.alternatives ?? [])].map((answer, index) =>
      lowerChoice(flavour, answer, { index, legacy: isLegacy(context) }),
    ),
    usage: lowerUsage(flavour, response.usage),
    ...tierOf(response.usage),
  };
}

/** The request declared `functions`, which were there before tools; its SDKs look for `function_call`. */
export function isLegacy({ echo }: AnswerContext): boolean {
  return echo?.functions === true;
}

/** Takes the members of a Chat request that decide the form of its answer. */
export function echoOf(body: Json): JsonObject | undefined {
  return isJsonObject(body) && Array.isArray(body.functions) && body.functions.length > 0 ? { functions: true } : undefined;
}

function lowerChoice(
  flavour: ChatFlavour,
  { parts, finish }: IrResponse,
  { index, legacy }: { readonly index: number; readonly legacy: boolean },
): JsonObject {
  const refused = parts.some((part) => part.kind === 'refusal');
  const logprobs = parts.flatMap((part) => (part.kind === 'text' ? (part.logprobs ?? []) : []));
  return {
    index,
    message: legacy ? legacyMessage(lowerMessage(flavour, parts)) : lowerMessage(flavour, parts),
    logprobs: choiceLogprobs(logprobs),
    finish_reason: legacy && finish === 'tool-calls' ? 'function_call' : reasonOf(finish, refused),
  };
}

/** Logprobs of a choice; a refusal has none of its own here. */
export function choiceLogprobs(logprobs: readonly TokenLogprob[]): JsonObject | null {
  return logprobs.length === 0 ? null : { content: lowerLogprobs(logprobs), refusal: null };
}

/** There is one call in such an answer: its request forbids parallel ones. */
function legacyMessage({ tool_calls: calls, ...message }: JsonObject): JsonObject {
  const [first] = listIn(calls);
  return isJsonObject(first) && isJsonObject(first.function) ? { ...message, function_call: first.function } : message;
}

function lowerMessage(flavour: ChatFlavour, parts: readonly IrPart[]): JsonObject {
  const texts = parts.filter((part) => part.kind === 'text');
  const refusal = parts.filter((part) => part.kind === 'refusal').map((part) => part.text);
  const calls = parts.filter((part) => part.kind === 'tool-call');
  const thinking = parts.filter((part) => part.kind === 'thinking').map((part) => part.text);
  let before = 0;
  const annotations = texts.flatMap(({ text, citations, meta }) => {
    const own = annotationsOf(flavour, meta) ?? lowerAnnotations(flavour, citations, before);
    before += text.length;
    return own;
  });
  const spoke = texts.length > 0 || ownContent(flavour, parts) !== undefined || (calls.length === 0 && refusal.length === 0);
  return compact({
    role: 'assistant',
    content: spoke ? (ownContent(flavour, parts) ?? texts.map((part) => part.text).join('')) : null,
    refusal: refusal.length === 0 ? null : refusal.join(''),
    ...(flavour.reasoningField === undefined || thinking.join('') === '' ? {} : { [flavour.reasoningField]: thinking.join('') }),
    ...answerState(flavour, parts),
    ...ownMedia(flavour, parts),
    annotations: annotations.length === 0 ? undefined : annotations,
    tool_calls:
      calls.length === 0 ? undefined : calls.map((part) => ({ ...lowerCall(part, flavour.id), ...callExtra(flavour, part.meta) })),
  });
}

/** A list where something that only this vendor has stands between the texts. */
function ownContent({ id }: ChatFlavour, parts: readonly IrPart[]): Json[] | undefined {
  const own = (part: IrPart): readonly Json[] => (part.kind === 'vendor' ? listIn(part.meta?.[id]?.content) : []);
  if (!parts.some((part) => own(part).length > 0)) return undefined;
  return parts.flatMap((part) => (part.kind === 'text' ? [{ type: 'text', text: part.text }] : own(part)));
}

/** State of the answer's reasoning: the vendor's own as it came, another engine's in the carrier where the wire has one. */
function answerState(flavour: ChatFlavour, parts: readonly IrPart[]): JsonObject {
  const own: JsonObject = Object.assign({}, ...parts.map((part) => (part.kind === 'thinking' ? (part.meta?.[flavour.id] ?? {}) : {})));
  if (Object.keys(own).length > 0) return own;
  const details = parts.flatMap((part) => (part.kind === 'thinking' ? detailOf(flavour, part) : []));
  if (details.length > 0) return { [DETAILS]: details };
  const thinking = parts.map((part) => (part.kind === 'thinking' ? foreignMeta(part.meta, flavour.id) : undefined)).find(isDefined);
  const call = parts.map((part) => (part.kind === 'tool-call' ? foreignMeta(part.meta, flavour.id) : undefined)).find(isDefined);
  return carried(flavour, thinking, call);
}

function isDefined<T>(value: T | undefined): value is T {
  return value !== undefined;
}

/** State that another engine must get back with the next request: of its reasoning, and of its first call. */
export function carried(flavour: ChatFlavour, thinking: VendorMeta | undefined, call: VendorMeta | undefined): JsonObject {
  if (flavour.carrier === undefined || (thinking === undefined && call === undefined)) return {};
  const state = { ...(thinking === undefined ? {} : { thinking }), ...(call === undefined ? {} : { call }) };
  return { [flavour.carrier]: packMeta(state) };
}

/** Pages that another engine's search named, where the wire has a member for them. */
export function lowerAnnotations(flavour: ChatFlavour, citations: readonly Citation[] = [], before: number): JsonObject[] {
  if (flavour.messageMembers.annotations === undefined) return [];
  return citations.map((citation) => ({ type: 'url_citation', url_citation: citationMembers(citation, before) }));
}

export function annotationsOf(flavour: ChatFlavour, meta: VendorMeta | undefined): readonly Json[] | undefined {
  const list = meta?.[flavour.id]?.annotations;
  return Array.isArray(list) ? list : undefined;
}
