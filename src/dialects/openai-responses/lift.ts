import { type Json, type JsonObject, jsonOf, listIn, objectIn } from '../../base/json.ts';
import { parseAt } from '../../contract/border.ts';
import { AbpError } from '../../contract/errors.ts';
import type { Concept } from '../../ir/concept.ts';
import type { IrMessage } from '../../ir/conversation.ts';
import { EngineFailure } from '../../ir/engine-failure.ts';
import { Fields, Ledger, meansNothing } from '../../ir/ledger.ts';
import type { IrPart } from '../../ir/part.ts';
import type { IrEffort, IrOutputFormat, IrRequest, IrSampling } from '../../ir/request.ts';
import type { FinishReason, IrResponse } from '../../ir/response.ts';
import { type IrUsage, type SideUsage, usageDetails } from '../../ir/usage.ts';
import type { LiftContext } from '../dialect.ts';
import { compact, otherMembers, vendorMeta, withoutNulls } from '../members.ts';
import { liftAnnotations } from '../openai-citations.ts';
import { liftLogprobs } from '../openai-logprobs.ts';
import { pricedTier } from '../openai-tier.ts';
import { streamError } from './errors.ts';
import { ID, inMessage, liftPart, typed } from './lift-content.ts';
import { liftItems, liftOutput, withItem } from './lift-items.ts';
import { liftTool, liftToolChoice } from './lift-tools.ts';
import * as wire from './wire.ts';

const KNOWN = [
  'model',
  'input',
  'instructions',
  'stream',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'max_output_tokens',
  'temperature',
  'top_p',
  'top_logprobs',
  'reasoning',
  'text',
  'include',
  'service_tier',
  'safety_identifier',
];

/** Members without a neutral form, with what they mean. */
const OWN: Readonly<Record<string, Concept>> = {
  previous_response_id: 'stored_state',
  conversation: 'stored_state',
  prompt: 'stored_state',
  metadata: 'metadata',
  client_metadata: 'metadata',
  prompt_cache_key: 'cache_mark',
  prompt_cache_retention: 'cache_mark',
  prompt_cache_options: 'cache_mark',
  context_management: 'context_management',
  stream_options: 'stream_options',
  moderation: 'vendor_option',
};

/** Tools that the caller runs. */
const OWN_TOOLS: ReadonlySet<string> = new Set(['function', 'custom', 'namespace']);

export const LOGPROBS = 'message.output_text.logprobs';
export const ENCRYPTED = 'reasoning.encrypted_content';

/** Reads a Responses body. Strict about shapes it knows, silent about members it does not: those stay unclaimed in the ledger. */
export function liftRequest(body: Json, context: LiftContext): IrRequest {
  const request = parseAt(wire.Request, withoutNulls(body), 'request body');
  const f = new Fields(request, '', context.ledger);
  const model = f.take('model', 'model');
  const messages = [...liftInstructions(f), ...liftInput(f)];
  const { toolChoice, own: ownChoice } = liftToolChoice(f);
  const { effort, own: ownReasoning } = liftReasoning(f);
  const { output, verbosity, own: ownText } = liftText(f);
  const { sampling, own: ownInclude } = liftSampling(f);
  const ownTop = sampling.logprobs === true ? undefined : request.top_logprobs;
  const endUser = f.take('safety_identifier', 'end_user') ?? request.user;
  const maxTokens = f.take('max_output_tokens', 'max_tokens');
  const serviceTier = f.take('service_tier', 'service_tier');
  const parallel =
    request.parallel_tool_calls === false
      ? f.take('parallel_tool_calls', 'parallel_tool_calls')
      : f.takeUsual('parallel_tool_calls', 'parallel_tool_calls');
  return {
    model,
    stream: f.take('stream', 'stream') ?? context.stream ?? false,
    messages,
    tools: f.list('tools').flatMap(liftTool),
    ...(toolChoice === undefined ? {} : { toolChoice }),
    ...(parallel === false ? { parallelToolCalls: false } : {}),
    ...(maxTokens === undefined ? {} : { maxTokens }),
    stop: [],
    sampling,
    ...(output === undefined ? {} : { output }),
    ...(effort === undefined ? {} : { effort }),
    ...(verbosity === undefined ? {} : { verbosity }),
    ...(endUser === undefined ? {} : { endUser }),
    ...(serviceTier === undefined ? {} : { serviceTier }),
    vendor: {
      [ID]: compact({
        ...liftOwn(f),
        tool_choice: ownChoice,
        reasoning: ownReasoning,
        text: ownText,
        include: ownInclude,
        top_logprobs: ownTop,
      }),
    },
  };
}

function liftInstructions(f: Fields<wire.Request>): IrMessage[] {
  const text = f.take('instructions', f.value.instructions === '' ? 'structure' : 'system') ?? '';
  return text === '' ? [] : [{ role: 'system', at: 'instructions', parts: [{ kind: 'text', text, at: 'instructions' }] }];
}

function liftInput(f: Fields<wire.Request>): IrMessage[] {
  const { input, previous_response_id: previous, conversation, prompt } = f.value;
  if (typeof input === 'string') {
    f.take('input', 'text');
    return [{ role: 'user', at: 'input', parts: [{ kind: 'text', text: input, at: 'input' }] }];
  }
  if (input === undefined && previous === undefined && conversation === undefined && prompt === undefined)
    throw new AbpError('invalid_request', 'request body is not valid: input: is required');
  return liftItems(f.list('input'));
}

/**
 * Takes the members that only OpenAI understands. A value that only states the default is no wish, and another engine misses nothing
 * without it.
 */
function liftOwn(f: Fields<wire.Request>): JsonObject {
  for (const [name, concept] of Object.entries(OWN)) f.take(name, concept);
  // Beside the identifier that took its place, `user` only tells the vendor which requests are alike, as its cache keys do.
  f.take('user', f.value.safety_identifier === undefined ? 'end_user' : 'cache_mark');
  // It counts calls to tools that the vendor runs itself, so beside none of them it limits nothing.
  f.take('max_tool_calls', 'vendor_option');
  if ((f.value.tools ?? []).every(({ type }) => OWN_TOOLS.has(type)))
    f.ledger.leaveIdle('max_tool_calls', meansNothing('beside no tool of the vendor'));
  takeUnless(f, 'store', 'storage', false);
  takeUnless(f, 'background', 'background', false);
  takeUnless(f, 'truncation', 'context_management', 'disabled');
  return otherMembers(f.value, KNOWN) ?? {};
}

/** A value that only states the default asks for nothing. */
function takeUnless<K extends keyof wire.Request & string>(
  f: Fields<wire.Request>,
  key: K,
  concept: Concept,
  usual: wire.Request[K],
): void {
  if (f.value[key] === usual) f.takeUsual(key, concept);
  else f.take(key, concept);
}

const EFFORTS: readonly string[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] satisfies IrEffort[];

function isEffort(value: string): value is IrEffort {
  return EFFORTS.includes(value);
}

/** Levels that no other vendor has stay ours. */
function liftReasoning(f: Fields<wire.Request>): { effort?: IrEffort; own?: JsonObject } {
  const r = f.object('reasoning');
  if (r === undefined) return {};
  const { effort } = r.value;
  const shared = typeof effort === 'string' && isEffort(effort) ? effort : undefined;
  r.take('effort', typeof effort === 'string' && shared === undefined ? 'vendor_option' : 'effort');
  r.take('summary', 'reasoning_summary');
  r.take('generate_summary', 'reasoning_summary');
  r.take('context', 'reasoning_state');
  r.take('mode', r.value.mode === 'standard' ? 'structure' : 'vendor_option');
  const own = setMembers(otherMembers(r.value, shared === undefined ? [] : ['effort']));
  return { ...(shared === undefined ? {} : { effort: shared }), ...(own === undefined ? {} : { own }) };
}

function liftText(f: Fields<wire.Request>): { output?: IrOutputFormat; verbosity?: string; own?: JsonObject } {
  const t = f.object('text');
  if (t === undefined) return {};
  const { format } = t.value;
  claimFormat(t.object('format'), format);
  const verbosity = t.take('verbosity', 'verbosity');
  const output = liftFormat(format);
  const own = setMembers(otherMembers(t.value, ['format', 'verbosity']));
  return {
    ...(output === undefined ? {} : { output }),
    ...(typeof verbosity === 'string' ? { verbosity } : {}),
    ...(own === undefined ? {} : { own }),
  };
}

function claimFormat(f: Fields<wire.Format> | undefined, format: wire.Format | null | undefined): void {
  const concept = format?.type === 'json_schema' ? 'json_schema' : format?.type === 'json_object' ? 'json_mode' : 'structure';
  for (const word of ['type', 'description', 'schema'] as const) f?.take(word, concept);
  f?.take('name', 'schema_name');
  f?.take('strict', 'schema_strict');
}

function liftFormat(format: wire.Format | null | undefined): IrOutputFormat | undefined {
  if (format?.type === 'json_object') return { kind: 'json' };
  if (format?.type !== 'json_schema') return undefined;
  if (format.schema === undefined)
    throw new AbpError('invalid_request', 'text.format.schema: required when text.format.type is "json_schema"');
  return {
    kind: 'json-schema',
    schema: jsonOf(format.schema),
    ...(format.name === undefined ? {} : { name: format.name }),
    ...(typeof format.description === 'string' ? { description: format.description } : {}),
    ...(typeof format.strict === 'boolean' ? { strict: format.strict } : {}),
    ...vendorMeta(ID, otherMembers(format, ['type', 'name', 'description', 'schema', 'strict'])),
  };
}

/** The object without members that are null, or undefined when nothing is left. */
function setMembers(members: JsonObject | undefined): JsonObject | undefined {
  const set = Object.entries(members ?? {}).filter(([, value]) => value !== null);
  return set.length === 0 ? undefined : Object.fromEntries(set);
}

/** Logprobs are asked for by `include`; what else it names only shows more of the vendor's own items. */
function liftSampling(f: Fields<wire.Request>): { sampling: IrSampling; own?: readonly string[] } {
  const include = f.value.include ?? [];
  include.forEach((name, index) => {
    f.ledger.claim(`include[${index}]`, name === LOGPROBS ? 'logprobs' : name === ENCRYPTED ? 'reasoning_state' : 'tool_option');
  });
  if (f.value.include?.length === 0) f.take('include', 'structure');
  const temperature = f.take('temperature', 'temperature');
  const topP = f.take('top_p', 'top_p');
  const top = f.value.top_logprobs ?? 0;
  if (include.includes(LOGPROBS)) f.take('top_logprobs', 'logprobs');
  // Without the word in `include` the vendor tells none, however many are asked for.
  else f.take('top_logprobs', 'item_identity');
  const others = include.filter((name) => name !== LOGPROBS);
  const asked = others.length < include.length;
  const sampling = {
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { topP }),
    ...(asked ? { logprobs: true } : {}),
    ...(top === 0 || !asked ? {} : { topLogprobs: top }),
  };
  return { sampling, ...(others.length === 0 ? {} : { own: others }) };
}

/** The vendor's counts are totals: cached input and reasoning output are part of them. */
export function liftUsage(response: wire.Response): IrUsage {
  const { usage } = response;
  const searches = (response.output ?? []).filter(isSearch).length;
  return {
    inputTokens: usage?.input_tokens ?? 0,
    outputTokens: usage?.output_tokens ?? 0,
    cacheReadTokens: usage?.input_tokens_details?.cached_tokens ?? 0,
    cacheWriteTokens: usage?.input_tokens_details?.cache_write_tokens ?? 0,
    thinkingTokens: usage?.output_tokens_details?.reasoning_tokens ?? 0,
    webSearchRequests: response.tool_usage?.web_search?.num_requests ?? searches,
    ...usageDetails({
      previewSearches: isPreview(response) ? (response.tool_usage?.web_search?.num_requests ?? searches) : 0,
      fileSearches: (response.output ?? []).filter((item) => item.type === 'file_search_call').length,
      audioInputTokens: usage?.input_tokens_details?.audio_tokens ?? undefined,
      audioOutputTokens: usage?.output_tokens_details?.audio_tokens ?? undefined,
      tier: pricedTier(response.service_tier),
      beside: imageWork(response),
    }),
  };
}

/** Answers repeat the tools of their request; the preview of the search is billed otherwise than the search itself. */
function isPreview({ tools }: wire.Response): boolean {
  return listIn(tools).some((tool) => String(objectIn(tool)?.type).startsWith('web_search_preview'));
}

/** Pages that are opened or read through are no searches, and the vendor bills none. */
function isSearch({ type, action }: wire.AnyItem): boolean {
  return type === 'web_search_call' && !/^(?:open_page|find)/.test(String(objectIn(action)?.type));
}

/** The model that draws where the tool names none (API description of OpenAI, `ImageGenTool`). */
const PAINTER = 'gpt-image-1';

/** Pictures are drawn by a model of their own, which the request may choose; answers repeat its tools. */
function imageWork({ tool_usage: told, tools }: wire.Response): SideUsage[] {
  const { input_tokens: read, output_tokens: written, input_tokens_details: details } = told?.image_gen ?? {};
  if (!read && !written) return [];
  const tool = listIn(tools)
    .map(objectIn)
    .find((one) => one?.type === 'image_generation');
  const imageInputTokens = details?.image_tokens ?? 0;
  return [
    {
      model: typeof tool?.model === 'string' && tool.model !== 'auto' ? tool.model : PAINTER,
      inputTokens: read ?? 0,
      outputTokens: written ?? 0,
      ...(imageInputTokens === 0 ? {} : { imageInputTokens }),
      ...(told?.image_gen?.output_tokens_details?.image_tokens
        ? { imageOutputTokens: told.image_gen.output_tokens_details.image_tokens }
        : {}),
    },
  ];
}

/** The parts of an answer that tell how it ended. There is no finish reason on this wire: a call is known by its item. */
export interface Ending {
  readonly status: string | null | undefined;
  readonly reason: string | null | undefined;
  readonly calls: boolean;
  readonly refused: boolean;
}

export function finishOf(ending: Ending): FinishReason {
  if (ending.status === 'failed' || ending.status === 'cancelled') return 'error';
  if (ending.status === 'incomplete' && ending.reason === 'content_filter') return 'content-filter';
  if (ending.status === 'incomplete') return 'length';
  if (ending.calls) return 'tool-calls';
  if (ending.status === 'queued' || ending.status === 'in_progress') return 'pause';
  return ending.refused ? 'refusal' : 'stop';
}

export function isCallItem(item: wire.AnyItem): boolean {
  return item.type === 'function_call' || item.type === 'custom_tool_call';
}

export function endingOf(response: wire.Response, refused: boolean): Ending {
  return {
    status: response.status,
    reason: response.incomplete_details?.reason,
    calls: (response.output ?? []).some(isCallItem),
    refused,
  };
}

/** The parts of one item of an answer; a message is as many as it has contents. */
export function liftOutputItem(item: wire.AnyItem): IrPart[] {
  const fields = new Fields(item, '', new Ledger());
  if (item.type !== 'message') return [liftOutput(fields)];
  const message = typed(fields, wire.Message);
  const others = otherMembers(message.value, ['type', 'role', 'content']);
  return message.list('content').map((part) => withItem(withLogprobs(withCitations(liftPart(part, inMessage('text')))), others));
}

/** So are the pages that it names; they also stay as they were written. */
function withCitations(part: IrPart): IrPart {
  return part.kind === 'text' ? { ...part, ...liftAnnotations(part.meta?.[ID]?.annotations, part.text.length) } : part;
}

/** Logprobs of an answer are neutral; in a history they only go back to their owner. */
function withLogprobs(part: IrPart): IrPart {
  if (part.kind !== 'text') return part;
  const { logprobs, ...own } = part.meta?.[ID] ?? {};
  const told = liftLogprobs(logprobs);
  if (told === undefined) return part;
  const { meta: _moved, ...rest } = part;
  return { ...rest, logprobs: told, ...vendorMeta(ID, Object.keys(own).length === 0 ? undefined : own) };
}

/** A whole Responses answer. */
export function liftResponse(body: Json): IrResponse {
  const response = parseAt(wire.Response, body, 'engine response');
  if (response.status === 'failed' || response.status === 'cancelled')
    throw new EngineFailure(streamError(response.error ?? { message: `the answer is ${response.status}` }));
  // An answer of another kind under a good status would be told as an empty one.
  if (response.output === undefined || response.output === null)
    throw new EngineFailure({ kind: 'server', message: 'the engine answered without an output', status: 200 });
  const parts = response.output.flatMap(liftOutputItem);
  const refused = parts.some((part) => part.kind === 'refusal');
  return {
    id: response.id,
    model: response.model ?? '',
    parts,
    finish: finishOf(endingOf(response, refused)),
    usage: liftUsage(response),
    ...(response.status === 'queued' || response.status === 'in_progress' ? { meta: { [ID]: { status: response.status } } } : {}),
  };
}
