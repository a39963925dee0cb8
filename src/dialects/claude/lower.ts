import { type Json, type JsonObject, listIn, objectIn } from '../../base/json.ts';
import { parseShallowObject } from '../../base/json-limits.ts';
import { AbpError } from '../../contract/errors.ts';
import { foreignMeta, packMeta } from '../../ir/carrier.ts';
import { type IrMessage, splitSystem } from '../../ir/conversation.ts';
import type { DocumentPart, ImagePart, IrPart, MediaSource, ThinkingPart, ToolResultPart } from '../../ir/part.ts';
import type { HostedToolKind, IrRequest, IrTool } from '../../ir/request.ts';
import type { FinishReason, IrResponse } from '../../ir/response.ts';
import type { IrUsage } from '../../ir/usage.ts';
import type { AnswerContext, FateNote, LowerContext, LoweredRequest } from '../dialect.ts';
import { lowerLimits as lowerToolLimits } from '../hosted-limits.ts';
import { wordsOf } from '../media-types.ts';
import { compact, joined } from '../members.ts';
import { described } from '../output-schema.ts';
import { allowedTools } from '../tool-choice.ts';
import { foreignMark } from './cache-mark.ts';
import { lowerCitations } from './citations.ts';
import { LIMITS } from './lift.ts';
import { lowerSampling } from './lower-sampling.ts';
import { forGeneration, lowerLimits } from './lower-thinking.ts';

/** The version whose fields we write; later ones have no sampling parameters. */
const VERSION = '2023-06-01';

/** Writes a Messages body. The order of members is fixed, so that the same request gives the same bytes and keeps its prompt cache. */
export function lowerRequest(asked: IrRequest, context: LowerContext): LoweredRequest {
  const notes: FateNote[] = [];
  const request = forGeneration(asked, context, notes);
  const { system, rest } = splitSystem(request.messages);
  const { output } = request;
  const effort = lowerEffort(request, notes);
  const limits = lowerLimits(request, context, notes);
  notePrefill(rest, context, notes);
  const { output_config: ownOutput, metadata: ownMetadata, ...own } = request.vendor.claude ?? {};
  const body = compact({
    model: request.model,
    max_tokens: limits.maxTokens,
    system: lowerSystem(system, notes),
    messages: rest.flatMap((message) => lowerMessage(message, notes)),
    tools: lowerTools(request, notes),
    tool_choice: lowerToolChoice(request),
    thinking: limits.thinking,
    output_config:
      output?.kind === 'json-schema' || effort !== undefined || ownOutput !== undefined
        ? joined(
            compact({ effort, format: output?.kind === 'json-schema' ? { type: 'json_schema', schema: described(output) } : undefined }),
            objectIn(ownOutput),
          )
        : undefined,
    stop_sequences: request.stop.length === 0 ? undefined : request.stop,
    ...lowerSampling(request, context, notes),
    metadata:
      request.endUser === undefined && ownMetadata === undefined
        ? undefined
        : compact({ ...objectIn(ownMetadata), user_id: request.endUser }),
    service_tier: lowerServiceTier(request, notes),
    ...own,
    stream: request.stream ? true : undefined,
  });
  return { path: '/v1/messages', body, headers: { 'anthropic-version': VERSION }, notes };
}

/** Other wires take a last message of the assistant for history; here it is a beginning, which newer models refuse to go on from. */
function notePrefill(messages: readonly IrMessage[], { lacks }: LowerContext, notes: FateNote[]): void {
  const last = messages.at(-1);
  if (last?.role !== 'assistant' || !lacks.has('prefill')) return;
  notes.push({
    concept: 'prefill',
    fate: 'refused',
    code: 'no_prefill',
    note: 'the model takes no conversation that ends with its own words',
    ...where(last),
  });
}

function lowerEffort(request: IrRequest, notes: FateNote[]): string | undefined {
  const { effort } = request;
  if (effort === 'none') {
    notes.push({ concept: 'effort', fate: 'renamed', code: 'thinking_as_switch', note: 'thinking is switched off' });
    return undefined;
  }
  if (effort !== 'minimal') return effort;
  notes.push({ concept: 'effort', fate: 'emulated', code: 'nearest_level', note: 'minimal was sent as low, the lowest level of Claude' });
  return 'low';
}

const TIERS: Readonly<Record<string, string>> = {
  auto: 'auto',
  standard_only: 'standard_only',
  default: 'standard_only',
  standard: 'standard_only',
};

function lowerServiceTier(request: IrRequest, notes: FateNote[]): string | undefined {
  const { serviceTier } = request;
  if (serviceTier === undefined || TIERS[serviceTier] !== undefined) return TIERS[serviceTier ?? ''];
  notes.push({ concept: 'service_tier', fate: 'dropped', code: 'no_such_tier', note: `Claude has no tier "${serviceTier}"` });
  return undefined;
}

function lowerSystem(system: readonly IrMessage[], notes: FateNote[]): Json | undefined {
  const blocks = system.flatMap((message) => lowerBlocks(message, notes));
  return blocks.length === 0 ? undefined : contentOf(blocks);
}

/** A message must have content; one of foreign reasoning alone has none left. */
function lowerMessage(message: IrMessage, notes: FateNote[]): JsonObject[] {
  const text = plainText(message);
  if (text !== undefined) return [{ role: message.role, content: text }];
  const blocks = lowerBlocks(message, notes);
  const empty = blocks.length === 0 && message.parts.length > 0;
  return empty ? [] : [{ role: message.role, content: contentOf(blocks), ...message.meta?.claude }];
}

/** The text of a message that is nothing else, as most of a long conversation are. */
function plainText({ parts, meta }: IrMessage): string | undefined {
  const [only] = parts;
  return parts.length === 1 && only?.kind === 'text' && only.meta === undefined && meta === undefined ? only.text : undefined;
}

/** The mark of a whole message stands on its last block. */
function lowerBlocks(message: IrMessage, notes: FateNote[]): JsonObject[] {
  const blocks = message.parts.flatMap((part) => lowerPart(part, notes));
  if (message.meta === undefined) return blocks;
  const mark = foreignMark(message, notes);
  return blocks.map((block, index) => (index === blocks.length - 1 ? { ...block, ...mark } : block));
}

/** One plain text is a string. */
function contentOf(blocks: readonly JsonObject[]): string | readonly JsonObject[] {
  const [only] = blocks;
  const plain = blocks.length === 1 && only?.type === 'text' && Object.keys(only).length === 2 ? only.text : undefined;
  return typeof plain === 'string' ? plain : blocks;
}

const IMAGE_TYPES = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'];
const PLAIN = 'text/plain';

/** One content block, with the members it came with when it came from Claude; nothing where the part has no form here. */
function lowerPart(part: IrPart, notes: FateNote[]): JsonObject[] {
  const own = { ...foreignMark(part, notes), ...part.meta?.claude };
  switch (part.kind) {
    case 'text':
    case 'refusal':
      return [{ type: 'text', text: part.text, ...own }];
    case 'image':
      refuseType(part, IMAGE_TYPES, notes);
      return [joined({ type: 'image', source: lowerSource(part.source) }, own)];
    case 'document':
      return [
        joined({ type: 'document', source: lowerDocument(part, notes), ...compact({ title: part.title, context: part.context }) }, own),
      ];
    case 'thinking':
      return lowerThinkingPart(part, notes);
    case 'tool-call':
      return [{ type: 'tool_use', id: part.id, name: part.name, input: argumentsObject(part.arguments, part.at), ...own }];
    case 'tool-result':
      return [lowerToolResult(part, notes)];
    case 'vendor':
      return part.meta?.claude === undefined ? [] : [part.text === undefined ? own : { ...own, input: argumentsObject(part.text) }];
    default:
      return [];
  }
}

/** Tables, source code and the like go as the plain text that their bytes are. */
function lowerDocument(part: DocumentPart, notes: FateNote[]): JsonObject {
  const { source } = part;
  const words = source.kind === 'base64' ? wordsOf(source.mediaType, source.data) : undefined;
  if (source.kind !== 'base64' || words === undefined) {
    refuseType(part, ['application/pdf'], notes);
    return lowerSource(source);
  }
  if (source.mediaType !== PLAIN)
    notes.push({
      concept: 'document',
      fate: 'emulated',
      code: 'document_as_text',
      note: `${source.mediaType} was sent as plain text`,
      ...where(part),
    });
  return { type: 'text', media_type: PLAIN, data: words };
}

function refuseType(part: ImagePart | DocumentPart, types: readonly string[], notes: FateNote[]): void {
  const { source } = part;
  if (source.kind !== 'base64' || types.includes(source.mediaType)) return;
  notes.push({
    concept: part.kind,
    fate: 'refused',
    code: 'media_type_not_taken',
    note: `Claude does not take ${source.mediaType}`,
    ...where(part),
  });
}

function where(node: { readonly at?: string }): { at?: string } {
  return node.at === undefined ? {} : { at: node.at };
}

/** Claude checks the signature of every block it gets back, so reasoning it did not sign cannot be replayed to it. */
function lowerThinkingPart(part: ThinkingPart, notes: FateNote[]): JsonObject[] {
  const own = part.meta?.claude;
  if (own !== undefined) return [part.redacted ? { type: 'redacted_thinking', ...own } : { type: 'thinking', thinking: part.text, ...own }];
  notes.push({
    concept: 'thinking_history',
    fate: 'dropped',
    code: 'reasoning_not_its_own',
    note: 'Claude takes back only reasoning that it signed',
    ...where(part),
  });
  return [];
}

/** The signature of a block we show to a caller: Claude's own, or another engine's state packed to come back; never an invented one. */
export function signatureOf(meta: IrPart['meta']): string {
  const own = meta?.claude?.signature ?? meta?.signature?.value;
  if (typeof own === 'string') return own;
  const foreign = foreignMeta(meta, 'claude');
  return foreign === undefined ? '' : packMeta(foreign);
}

function lowerToolResult(part: ToolResultPart, notes: FateNote[]): JsonObject {
  return {
    type: 'tool_result',
    tool_use_id: part.callId,
    content: contentOf(part.parts.flatMap((inner) => lowerPart(inner, notes))),
    ...(part.isError ? { is_error: true } : {}),
    ...foreignMark(part, notes),
    ...part.meta?.claude,
  };
}

function lowerSource(source: MediaSource): JsonObject {
  if (source.kind === 'url') return { type: 'url', url: source.url };
  if (source.kind === 'file') return { type: 'file', file_id: source.fileId };
  return { type: 'base64', media_type: source.mediaType, data: source.data };
}

/** Claude takes arguments as an object; an empty text is a call without arguments. */
function argumentsObject(text: string, at?: string): JsonObject {
  if (text.trim() === '') return {};
  const value = parseShallowObject(text);
  if (value === undefined)
    throw new AbpError('invalid_request', `${at === undefined ? '' : `${at}: `}the arguments of a tool call are not a JSON object`);
  return value;
}

/** Server tools that other dialects have too, in the form every current model takes. */
const HOSTED: Readonly<Partial<Record<HostedToolKind, JsonObject>>> = {
  web_search: { type: 'web_search_20250305', name: 'web_search' },
  web_fetch: { type: 'web_fetch_20250910', name: 'web_fetch' },
};

function lowerTools(request: IrRequest, notes: FateNote[]): Json | undefined {
  const { tools, toolChoice } = request;
  const allowed = toolChoice?.kind === 'allowed' ? toolChoice.names : undefined;
  const offered = allowed === undefined ? tools : allowedTools(tools, allowed, notes);
  return offered.length === 0 ? undefined : offered.flatMap((tool) => lowerTool(tool, notes));
}

function lowerTool(tool: IrTool, notes: FateNote[]): JsonObject[] {
  if (tool.kind === 'function') {
    const { name, description, schema, strict } = tool;
    return [compact({ name, description, input_schema: schema, strict, ...foreignMark(tool, notes), ...tool.meta?.claude })];
  }
  if (tool.kind === 'custom') return [];
  const own = tool.meta.claude;
  if (own !== undefined) return [own];
  const hosted = HOSTED[tool.hosted];
  if (hosted === undefined)
    notes.push({ concept: 'hosted_tool', fate: 'refused', code: 'no_such_tool', note: `Claude has no ${tool.name}`, ...where(tool) });
  else
    notes.push({
      concept: 'hosted_tool',
      fate: 'emulated',
      code: 'served_by_own_tool',
      note: `served by Claude's ${String(hosted.type)}`,
      ...where(tool),
    });
  return hosted === undefined ? [] : [{ ...hosted, ...lowerToolLimits(tool, LIMITS, `Claude's ${String(hosted.type)}`, notes) }];
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
    ...(usage.details?.cacheWrite1hTokens === undefined
      ? {}
      : {
          cache_creation: {
            ephemeral_5m_input_tokens: usage.cacheWriteTokens - usage.details.cacheWrite1hTokens,
            ephemeral_1h_input_tokens: usage.details.cacheWrite1hTokens,
          },
        }),
    ...(usage.details?.tier === 'batch' ? { service_tier: 'batch' } : {}),
    ...(usage.details?.tier === 'fast' ? { speed: 'fast' } : {}),
    ...(usage.details?.region === undefined ? {} : { inference_geo: usage.details.region }),
  };
}

/** Redacted reasoning of an answer: Claude's own, or another engine's state packed to come back. */
export function redactedBlock(meta: IrPart['meta']): JsonObject {
  const foreign = foreignMeta(meta, 'claude');
  return { type: 'redacted_thinking', data: foreign === undefined ? '' : packMeta(foreign), ...meta?.claude };
}

/** Blocks of an answer. A call's foreign state has no member of its own here, so it rides in a block before the call. */
function answerBlocks(part: IrPart): JsonObject[] {
  if (part.kind === 'thinking') {
    return [
      part.redacted
        ? redactedBlock(part.meta)
        : { type: 'thinking', thinking: part.text, signature: signatureOf(part.meta), ...part.meta?.claude },
    ];
  }
  if (part.kind === 'text' && part.citations !== undefined && part.meta?.claude?.citations === undefined)
    return lowerPart(part, []).map((block) => ({ ...block, citations: lowerCitations(part.citations ?? []) }));
  const foreign = part.kind === 'tool-call' ? foreignMeta(part.meta, 'claude') : undefined;
  const carrier = foreign === undefined ? [] : [redactedBlock(foreign)];
  return [...carrier, ...lowerPart(part, [])];
}

/** A call whose arguments the token limit cut off: it was never made, and a whole answer can only hold whole ones. */
function isCut(part: IrPart): boolean {
  return part.kind === 'tool-call' && part.arguments.trim() !== '' && parseShallowObject(part.arguments) === undefined;
}

/** A whole Messages answer. */
export function lowerResponse(response: IrResponse, context: AnswerContext): JsonObject {
  return {
    id: response.id ?? `msg_${context.runHex}`,
    type: 'message',
    role: 'assistant',
    model: context.model,
    content: response.parts.filter((part) => response.finish !== 'length' || !isCut(part)).flatMap(answerBlocks),
    stop_reason: STOP_REASON[response.finish],
    stop_sequence: response.stopSequence ?? null,
    usage: lowerUsage(response.usage),
  };
}

/** Claude goes on where its own turn stands at the end of the conversation; it takes no empty text there. */
export function resumed(request: JsonObject, answer: JsonObject): JsonObject {
  const content = listIn(answer.content).filter((block) => objectIn(block)?.text !== '');
  return { ...request, messages: [...listIn(request.messages), { role: 'assistant', content }] };
}
