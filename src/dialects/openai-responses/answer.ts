import { type Json, type JsonObject, objectIn } from '../../base/json.ts';
import { foreignMeta, packMeta } from '../../ir/carrier.ts';
import type { IrPart, TextPart, ToolCallPart, VendorMeta } from '../../ir/part.ts';
import type { FinishReason, IrError } from '../../ir/response.ts';
import type { IrUsage } from '../../ir/usage.ts';
import type { AnswerContext } from '../dialect.ts';
import { compact } from '../members.ts';
import { citationMembers } from '../openai-citations.ts';
import { lowerLogprobs } from '../openai-logprobs.ts';
import { failure } from './errors.ts';
import { ID } from './lift-content.ts';
import { callItem } from './lower-items.ts';

/** The end of an answer as the response object tells it. */
export interface Outcome {
  readonly status: string;
  readonly incompleteReason?: string;
  readonly error?: JsonObject;
}

/** A refusal that has no item of its own can only be told as a filtered answer. */
export function outcomeOf(finish: FinishReason, refused: boolean): Outcome {
  // A paused turn is not finished either.
  if (finish === 'length' || finish === 'context-window' || finish === 'pause')
    return { status: 'incomplete', incompleteReason: 'max_output_tokens' };
  if (finish === 'content-filter' || (finish === 'refusal' && !refused))
    return { status: 'incomplete', incompleteReason: 'content_filter' };
  if (finish === 'error')
    return { status: 'failed', error: { code: 'server_error', message: 'The engine ended the answer with an error.' } };
  return { status: 'completed' };
}

/** Ids of other vendors mean nothing to this one's SDKs, which use them to fetch or to continue an answer. */
export function responseId(id: string | undefined, context: AnswerContext): string {
  return id?.startsWith('resp_') ? id : `resp_${context.runHex}`;
}

/** Ids of items say what they are; `at` tells apart those of one answer. */
export function itemId(prefix: 'msg' | 'rs' | 'fc' | 'ctc', context: AnswerContext, at: number): string {
  return `${prefix}_${context.runHex}_${at}`;
}

/** The response object. The SDKs demand the request's parameters in it; those that the caller did not give have their defaults. */
export function responseObject(
  context: AnswerContext,
  answer: Outcome & { readonly id: string; readonly output: readonly Json[]; readonly usage?: IrUsage },
): JsonObject {
  const { incompleteReason, usage } = answer;
  return {
    id: answer.id,
    object: 'response',
    created_at: Math.floor(context.createdAtMs / 1000),
    status: answer.status,
    background: false,
    error: answer.error ?? null,
    incomplete_details: incompleteReason === undefined ? null : { reason: incompleteReason },
    instructions: null,
    max_output_tokens: null,
    model: context.model,
    output: answer.output,
    parallel_tool_calls: true,
    previous_response_id: null,
    reasoning: { effort: null, summary: null },
    store: false,
    temperature: null,
    text: { format: { type: 'text' } },
    tool_choice: 'auto',
    tools: [],
    top_p: null,
    truncation: 'disabled',
    metadata: {},
    ...context.echo,
    ...(usage?.details?.tier === undefined || usage.details.tier === 'fast' ? {} : { service_tier: usage.details.tier }),
    ...(usage === undefined ? {} : { usage: lowerUsage(usage) }),
    ...(usage !== undefined && usage.webSearchRequests > 0
      ? { tool_usage: { web_search: { num_requests: usage.webSearchRequests } } }
      : {}),
  };
}

/** A whole answer that failed. */
export function failedResponse(error: IrError, context: AnswerContext): JsonObject {
  return responseObject(context, { status: 'failed', error: failure(error), id: responseId(undefined, context), output: [] });
}

function lowerUsage(usage: IrUsage): JsonObject {
  return {
    input_tokens: usage.inputTokens,
    input_tokens_details: { cached_tokens: usage.cacheReadTokens, cache_write_tokens: usage.cacheWriteTokens },
    output_tokens: usage.outputTokens,
    output_tokens_details: { reasoning_tokens: usage.thinkingTokens },
    total_tokens: usage.inputTokens + usage.outputTokens,
  };
}

/** Members of the message item that a text of this dialect came from. */
export function ownItem(meta: VendorMeta | undefined): JsonObject | undefined {
  return objectIn(meta?.[ID]?.item);
}

/** A piece of a message of the answer. */
export function contentPart(
  kind: 'text' | 'refusal',
  { text, logprobs = [], citations = [] }: Pick<TextPart, 'text' | 'logprobs' | 'citations'>,
  meta: VendorMeta | undefined,
): JsonObject {
  const { item: _item, ...own } = meta?.[ID] ?? {};
  if (kind === 'refusal') return { type: 'refusal', refusal: text, ...own };
  const annotations = citations.map((citation) => ({ type: 'url_citation', ...citationMembers(citation) }));
  return { type: 'output_text', text, annotations, logprobs: lowerLogprobs(logprobs), ...own };
}

export function messageItem(id: string, content: readonly Json[], members: JsonObject | undefined): JsonObject {
  return { status: 'completed', ...members, id, type: 'message', role: 'assistant', content };
}

/**
 * A reasoning item for the caller to bring back: the vendor's own, one with a signature of ours, or one with another engine's state in
 * its opaque slot.
 */
export function reasoningItem(
  id: string,
  thinking: { readonly text: string; readonly redacted?: boolean },
  meta: VendorMeta | undefined,
): JsonObject {
  const own = meta?.[ID];
  if (own?.summary !== undefined) return { ...own, id, type: 'reasoning' };
  const { text, redacted } = thinking;
  return compact({
    id,
    type: 'reasoning',
    summary: text === '' ? [] : [{ type: 'summary_text', text }],
    encrypted_content: opaqueState(meta, redacted === true),
  });
}

function opaqueState(meta: VendorMeta | undefined, redacted: boolean): string | undefined {
  const signature = meta?.signature?.value;
  if (typeof signature === 'string') return signature;
  const foreign = foreignMeta(meta, ID);
  return foreign === undefined ? undefined : packMeta(redacted ? { ...foreign, abp: { redacted: true } } : foreign);
}

/** The state of a call of another engine has no slot in the call, so it rides in a reasoning item before it. */
export function carrierItem(id: string, call: { readonly meta?: VendorMeta }): JsonObject | undefined {
  const foreign = foreignMeta(call.meta, ID);
  return foreign === undefined ? undefined : reasoningItem(id, { text: '', redacted: true }, foreign);
}

/** A call of the answer. A tool of a namespace is named `namespace/name` in between. */
export function answerCall(id: string, call: Omit<ToolCallPart, 'kind'>, status: string): JsonObject {
  const cut = call.name.lastIndexOf('/');
  const named = cut < 0 ? {} : { namespace: call.name.slice(0, cut), name: call.name.slice(cut + 1) };
  return { ...callItem(call), ...named, ...call.meta?.[ID], id, status: call.meta?.abp?.status ?? status };
}

/** The id that this dialect gave to the item of a call or of reasoning. */
export function ownId(meta: VendorMeta | undefined): string | undefined {
  const id = meta?.abp?.id ?? meta?.[ID]?.id ?? ownItem(meta)?.id;
  return typeof id === 'string' ? id : undefined;
}

/** The items of a whole answer. Texts that came from one message are one message again. */
export function answerItems(parts: readonly IrPart[], context: AnswerContext): JsonObject[] {
  const items: JsonObject[] = [];
  let open: { readonly id: string; readonly content: JsonObject[] } | undefined;
  for (const part of parts) {
    if (part.kind !== 'text' && part.kind !== 'refusal') {
      open = undefined;
      items.push(...answerItem(part, context, items.length));
      continue;
    }
    const content = contentPart(part.kind, part, part.meta);
    const id = ownId(part.meta) ?? itemId('msg', context, items.length);
    if (open?.id === id) open.content.push(content);
    else {
      open = { id, content: [content] };
      items.push(messageItem(id, open.content, ownItem(part.meta)));
    }
  }
  return items;
}

function answerItem(part: IrPart, context: AnswerContext, at: number): JsonObject[] {
  if (part.kind === 'thinking') return [reasoningItem(ownId(part.meta) ?? itemId('rs', context, at), part, part.meta)];
  if (part.kind === 'tool-call') {
    const carrier = carrierItem(itemId('rs', context, at), part);
    const before = carrier === undefined ? [] : [carrier];
    const id = ownId(part.meta) ?? itemId(part.custom ? 'ctc' : 'fc', context, at + before.length);
    return [...before, answerCall(id, part, 'completed')];
  }
  return part.kind === 'vendor' && part.meta?.[ID]?.type !== undefined ? [part.meta[ID]] : [];
}
