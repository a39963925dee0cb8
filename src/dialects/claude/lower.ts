import { type Json, type JsonObject, parseJsonObject } from '../../base/json.ts';
import { AbpError } from '../../contract/errors.ts';
import { type IrMessage, splitSystem } from '../../ir/conversation.ts';
import type { IrPart, MediaSource } from '../../ir/part.ts';
import type { IrRequest, IrTool } from '../../ir/request.ts';
import type { FinishReason, IrResponse } from '../../ir/response.ts';
import type { IrUsage } from '../../ir/usage.ts';
import type { AnswerContext, LoweredRequest } from '../dialect.ts';
import { compact } from '../members.ts';

/** Writes a Messages body. The order of members is fixed, so that the same request gives the same bytes and keeps its prompt cache. */
export function lowerRequest(request: IrRequest): LoweredRequest {
  const { system, rest } = splitSystem(request.messages);
  const { maxTokens, sampling, output, effort } = request;
  const body = compact({
    model: request.model,
    max_tokens: maxTokens,
    system: lowerSystem(system),
    messages: rest.map(lowerMessage),
    tools: request.tools.length === 0 ? undefined : request.tools.map(lowerTool),
    tool_choice: lowerToolChoice(request),
    thinking: lowerThinking(request),
    output_config:
      output?.kind === 'json-schema' || effort !== undefined
        ? compact({ effort, format: output?.kind === 'json-schema' ? { type: 'json_schema', schema: output.schema } : undefined })
        : undefined,
    stop_sequences: request.stop.length === 0 ? undefined : request.stop,
    temperature: sampling.temperature,
    top_p: sampling.topP,
    top_k: sampling.topK,
    metadata: request.endUser === undefined ? undefined : { user_id: request.endUser },
    service_tier: request.serviceTier,
    ...request.vendor.claude,
    stream: request.stream ? true : undefined,
  });
  return { path: '/v1/messages', body, headers: {}, notes: [] };
}

function lowerSystem(system: readonly IrMessage[]): Json | undefined {
  const parts = system.flatMap((message) => message.parts);
  const [only] = parts;
  if (only === undefined) return undefined;
  if (parts.length === 1 && only.kind === 'text' && only.meta?.claude === undefined) return only.text;
  return parts.map(lowerPart);
}

function lowerMessage(message: IrMessage): JsonObject {
  const [only] = message.parts;
  const plain = message.parts.length === 1 && only?.kind === 'text' && only.meta?.claude === undefined ? only.text : undefined;
  return { role: message.role, content: plain ?? message.parts.map(lowerPart), ...message.meta?.claude };
}

/** One content block, with the members it came with when it came from Claude. */
export function lowerPart(part: IrPart): JsonObject {
  const own = part.meta?.claude;
  switch (part.kind) {
    case 'text':
    case 'refusal':
      return { type: 'text', text: part.text, ...own };
    case 'image':
      return { type: 'image', source: lowerSource(part.source), ...own };
    case 'document':
      return { type: 'document', source: lowerSource(part.source), ...compact({ title: part.title, context: part.context }), ...own };
    case 'thinking':
      return lowerThinkingPart(part);
    case 'tool-call':
      return { type: 'tool_use', id: part.id, name: part.name, input: argumentsObject(part.arguments), ...own };
    case 'tool-result':
      return lowerToolResult(part);
    case 'vendor':
      if (own !== undefined) return own;
      throw new AbpError('internal', `a ${part.dialect} block reached the Claude dialect`);
    case 'audio':
    case 'video':
      throw new AbpError('internal', `${part.kind} reached the Claude dialect`);
  }
}

function lowerThinkingPart(part: Extract<IrPart, { kind: 'thinking' }>): JsonObject {
  if (part.redacted) return { type: 'redacted_thinking', data: '', ...part.meta?.claude };
  return { type: 'thinking', thinking: part.text, signature: signatureOf(part.meta), ...part.meta?.claude };
}

/** The signature a thinking block carries; reasoning of another engine has none and must not get one invented. */
export function signatureOf(meta: IrPart['meta']): string {
  const own = meta?.claude?.signature ?? meta?.signature?.value;
  return typeof own === 'string' ? own : '';
}

function lowerToolResult(part: Extract<IrPart, { kind: 'tool-result' }>): JsonObject {
  const [only] = part.parts;
  const plain = part.parts.length === 1 && only?.kind === 'text' && only.meta?.claude === undefined ? only.text : undefined;
  return {
    type: 'tool_result',
    tool_use_id: part.callId,
    content: plain ?? part.parts.map(lowerPart),
    ...(part.isError ? { is_error: true } : {}),
    ...part.meta?.claude,
  };
}

function lowerSource(source: MediaSource): JsonObject {
  if (source.kind === 'url') return { type: 'url', url: source.url };
  if (source.kind === 'file') return { type: 'file', file_id: source.fileId };
  if (source.mediaType === 'text/plain') {
    return { type: 'text', media_type: 'text/plain', data: Buffer.from(source.data, 'base64').toString('utf8') };
  }
  return { type: 'base64', media_type: source.mediaType, data: source.data };
}

/** Claude takes arguments as an object; an empty text is a call without arguments. */
export function argumentsObject(text: string): JsonObject {
  if (text.trim() === '') return {};
  const value = parseJsonObject(text);
  if (value === undefined) throw new AbpError('invalid_request', 'the arguments of a tool call are not a JSON object');
  return value;
}

function lowerTool(tool: IrTool): JsonObject {
  if (tool.kind === 'hosted') return tool.meta.claude ?? { name: tool.name };
  if (tool.kind === 'custom') throw new AbpError('internal', 'a free-form tool reached the Claude dialect');
  return compact({ name: tool.name, description: tool.description, input_schema: tool.schema, strict: tool.strict, ...tool.meta?.claude });
}

function lowerToolChoice(request: IrRequest): JsonObject | undefined {
  const { toolChoice: choice, parallelToolCalls: parallel } = request;
  if (choice === undefined && parallel === undefined) return undefined;
  const flag = parallel === undefined ? {} : { disable_parallel_tool_use: !parallel };
  switch (choice?.kind) {
    case 'tool':
      return { type: 'tool', name: choice.name, ...flag };
    case 'required':
      return { type: 'any', ...flag };
    case 'none':
      return { type: 'none' };
    case 'allowed':
      return { type: choice.mode === 'required' ? 'any' : 'auto', ...flag };
    default:
      return { type: 'auto', ...flag };
  }
}

function lowerThinking(request: IrRequest): JsonObject | undefined {
  const { thinking } = request;
  if (thinking === undefined) return undefined;
  return compact({ type: thinking.mode, budget_tokens: thinking.budgetTokens, display: thinking.display });
}

export const STOP_REASON: Readonly<Record<FinishReason, string>> = {
  stop: 'end_turn',
  'stop-sequence': 'stop_sequence',
  length: 'max_tokens',
  'tool-calls': 'tool_use',
  refusal: 'refusal',
  'content-filter': 'refusal',
  pause: 'pause_turn',
  'context-window': 'model_context_window_exceeded',
  error: 'end_turn',
};

/** Claude's `input_tokens` leaves out the cached part. */
export function lowerUsage(usage: IrUsage): JsonObject {
  return {
    input_tokens: Math.max(0, usage.inputTokens - usage.cacheReadTokens - usage.cacheWriteTokens),
    cache_creation_input_tokens: usage.cacheWriteTokens,
    cache_read_input_tokens: usage.cacheReadTokens,
    output_tokens: usage.outputTokens,
    ...(usage.thinkingTokens > 0 ? { output_tokens_details: { thinking_tokens: usage.thinkingTokens } } : {}),
    ...(usage.webSearchRequests > 0 ? { server_tool_use: { web_search_requests: usage.webSearchRequests } } : {}),
  };
}

/** A whole Messages answer. */
export function lowerResponse(response: IrResponse, context: AnswerContext): JsonObject {
  return {
    id: response.id ?? `msg_${context.runHex}`,
    type: 'message',
    role: 'assistant',
    model: context.model,
    content: response.parts.map(lowerPart),
    stop_reason: STOP_REASON[response.finish],
    stop_sequence: response.stopSequence ?? null,
    usage: lowerUsage(response.usage),
  };
}
