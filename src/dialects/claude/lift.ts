import { isJsonObject, type Json, type JsonObject, jsonOf, listIn } from '../../base/json.ts';
import { parseAt } from '../../contract/border.ts';
import { AbpError } from '../../contract/errors.ts';
import type { IrMessage } from '../../ir/conversation.ts';
import { Fields, Ledger, meansNothing } from '../../ir/ledger.ts';
import type { IrPart } from '../../ir/part.ts';
import type { HostedToolKind, IrOutputFormat, IrRequest, IrThinking, IrTool, IrToolChoice } from '../../ir/request.ts';
import type { FinishReason, IrResponse } from '../../ir/response.ts';
import { type IrUsage, joinedPasses, type PassUsage, type SideUsage, usageDetails } from '../../ir/usage.ts';
import type { LiftContext } from '../dialect.ts';
import { type LimitPlaces, liftLimits } from '../hosted-limits.ts';
import { compact, otherMembers, vendorMeta, withoutNulls } from '../members.ts';
import { liftCitations } from './citations.ts';
import { callMeta, liftBlock, liftContent } from './lift-content.ts';
import * as wire from './wire.ts';

const KNOWN = [
  'model',
  'messages',
  'max_tokens',
  'system',
  'stream',
  'stop_sequences',
  'temperature',
  'top_p',
  'top_k',
  'tools',
  'tool_choice',
  'thinking',
  'output_config',
  'output_format',
  'metadata',
  'service_tier',
];

/** Members that only Claude has. They change what the engine does, so another engine must refuse them. */
const VENDOR_OPTIONS = ['container', 'inference_geo', 'speed', 'diagnostics', 'mcp_servers', 'fallbacks', 'compaction'];

/** Reads a Messages body. Strict about shapes it knows, silent about members it does not: those stay unclaimed in the ledger. */
export function liftRequest(body: Json, context: LiftContext): IrRequest {
  const request = parseAt(wire.Request, withoutNulls(body), 'request body');
  const f = new Fields(request, '', context.ledger);
  const model = f.take('model', 'model');
  const messages = [...liftSystem(f), ...f.list('messages').map((m, index, all) => liftMessage(m, index === all.length - 1))];
  const output = liftOutput(f);
  const thinking = liftThinking(f);
  const choice = liftToolChoice(f);
  const effort = f.object('output_config')?.take('effort', 'effort') ?? undefined;
  const ownOutput = liftOwnOutput(f);
  const endUser = f.object('metadata')?.take('user_id', 'end_user') ?? undefined;
  f.take('metadata', 'metadata');
  const maxTokens = f.take('max_tokens', 'max_tokens');
  const serviceTier = f.take('service_tier', 'service_tier');
  const tools = f.list('tools').map((tool) => liftTool(tool, f.value.tool_choice?.name));
  return {
    model,
    stream: f.take('stream', 'stream') ?? context.stream ?? false,
    messages,
    tools,
    ...(choice.toolChoice === undefined ? {} : { toolChoice: choice.toolChoice }),
    ...(choice.parallel === undefined ? {} : { parallelToolCalls: choice.parallel }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
    stop: f.take('stop_sequences', 'stop_sequences') ?? [],
    sampling: liftSampling(f),
    ...(output === undefined ? {} : { output }),
    ...(thinking === undefined ? {} : { thinking }),
    ...(effort === undefined ? {} : { effort }),
    ...(endUser === undefined ? {} : { endUser }),
    ...(serviceTier === undefined ? {} : { serviceTier }),
    vendor: liftVendor(f, ownOutput),
  };
}

/** Members of `output_config` and its format that have no neutral form. */
function liftOwnOutput(f: Fields<wire.Request>): JsonObject | undefined {
  const config = f.object('output_config');
  if (config === undefined) return undefined;
  config.take('task_budget', 'vendor_option');
  const { format } = config.value;
  const inFormat = format ? otherMembers(format, ['type', 'schema']) : undefined;
  const others = otherMembers(config.value, ['effort', 'format']);
  return inFormat === undefined ? others : { ...others, format: inFormat };
}

function liftVendor(f: Fields<wire.Request>, output: JsonObject | undefined): IrRequest['vendor'] {
  f.take('cache_control', 'cache_mark');
  f.take('context_management', 'context_management');
  if (f.value.speed === 'standard') f.takeUsual('speed', 'vendor_option');
  for (const name of VENDOR_OPTIONS.filter((one) => one !== 'speed' || f.value.speed !== 'standard')) f.take(name, 'vendor_option');
  liftThread(f);
  const metadata = f.value.metadata ? otherMembers(f.value.metadata, ['user_id']) : undefined;
  const members = compact({ ...otherMembers(f.value, KNOWN), output_config: output, metadata });
  return Object.keys(members).length === 0 ? {} : { claude: members };
}

/**
 * The SDK's tool runner and threads ask Claude to keep the conversation (beta of 2026-08-12). To keep it is a service, as with answers
 * that OpenAI stores; to go on from what was kept is the conversation itself.
 */
function liftThread(f: Fields<wire.Request>): void {
  const thread = f.object('thread');
  if (thread?.value.type === 'create') thread.take('type', 'storage');
  else f.take('thread', 'stored_state');
}

function liftSampling(f: Fields<wire.Request>): IrRequest['sampling'] {
  const temperature = f.take('temperature', 'temperature');
  const topP = f.take('top_p', 'top_p');
  const topK = f.take('top_k', 'top_k');
  return {
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { topP }),
    ...(topK === undefined ? {} : { topK }),
  };
}

function liftSystem(f: Fields<wire.Request>): IrMessage[] {
  const { system } = f.value;
  if (system === undefined) return [];
  if (typeof system === 'string') {
    f.take('system', 'system');
    return [{ role: 'system', at: 'system', parts: [{ kind: 'text', text: system, at: 'system' }] }];
  }
  const blocks = f.list('system');
  return [{ role: 'system', at: 'system', parts: blocks.map((block) => liftBlock(block, 'system')) }];
}

/** A last message of the assistant is the beginning of the answer that is asked for. */
function liftMessage(m: Fields<wire.Message>, last: boolean): IrMessage {
  const role = m.take('role', 'structure');
  const concept = role === 'system' ? 'system_in_place' : last && role === 'assistant' ? 'prefill' : 'text';
  return {
    role,
    at: m.path,
    parts: liftContent(m, concept),
    ...vendorMeta('claude', otherMembers(m.value, ['role', 'content'])),
  };
}

function liftToolChoice(f: Fields<wire.Request>): { toolChoice?: IrToolChoice; parallel?: boolean } {
  const choice = f.object('tool_choice');
  if (choice === undefined) return {};
  const type = choice.take('type', 'tool_choice');
  const name = choice.take('name', 'tool_choice');
  const disabled = choice.value.disable_parallel_tool_use
    ? choice.take('disable_parallel_tool_use', 'parallel_tool_calls')
    : choice.takeUsual('disable_parallel_tool_use', 'parallel_tool_calls');
  if (type === 'tool' && name === undefined)
    throw new AbpError('invalid_request', 'tool_choice.name: required when tool_choice.type is "tool"');
  return {
    toolChoice:
      type === 'tool' && name !== undefined
        ? { kind: 'tool', name }
        : { kind: type === 'any' ? 'required' : type === 'none' ? 'none' : 'auto' },
    ...(disabled === undefined ? {} : { parallel: !disabled }),
  };
}

function liftOutput(f: Fields<wire.Request>): IrOutputFormat | undefined {
  const config = f.object('output_config');
  const format = config?.takeMembers('format', 'json_schema', ['schema']) ?? f.takeMembers('output_format', 'json_schema', ['schema']);
  // There is one type of format.
  for (const inner of [config?.object('format'), f.object('output_format')]) inner?.take('type', 'structure');
  return format === null || format === undefined ? undefined : { kind: 'json-schema', schema: jsonOf(format.schema) };
}

function liftThinking(f: Fields<wire.Request>): IrThinking | undefined {
  const t = f.object('thinking');
  if (t === undefined) return undefined;
  const type = t.take('type', 'thinking');
  const budget = t.take('budget_tokens', 'thinking_budget');
  const display = t.take('display', 'thinking_display');
  if (type === 'disabled')
    for (const name of ['budget_tokens', 'display'] as const) t.ledger.leaveIdle(t.at(name), meansNothing('without thinking'));
  if (type === 'enabled' && budget === undefined)
    throw new AbpError('invalid_request', 'thinking.budget_tokens: required when thinking.type is "enabled"');
  return {
    mode: type === 'between_tools' ? 'adaptive' : type,
    ...(budget === undefined ? {} : { budgetTokens: budget }),
    ...(display === null || display === undefined ? {} : { display }),
  };
}

const HOSTED: readonly (readonly [prefix: string, kind: HostedToolKind])[] = [
  ['web_search_', 'web_search'],
  ['web_fetch_', 'web_fetch'],
  ['code_execution_', 'code_execution'],
  ['mcp_toolset', 'mcp'],
];

/** Where a search or a fetch says what it is limited to. */
export const LIMITS: LimitPlaces = {
  allowedDomains: ['allowed_domains'],
  blockedDomains: ['blocked_domains'],
  userLocation: ['user_location'],
  maxUses: ['max_uses'],
};

function liftTool(t: Fields<wire.Tool>, chosen: string | undefined): IrTool {
  const { type } = t.value;
  if (type !== undefined && type !== null && type !== 'custom') return liftHosted(t, type, chosen);
  t.take('type', 'tool');
  const name = t.take('name', 'tool');
  const description = t.take('description', 'tool');
  const schema = t.take('input_schema', 'tool');
  const strict = t.value.strict === true ? t.take('strict', 'tool_strict') : t.takeUsual('strict', 'tool_strict');
  t.take('cache_control', 'cache_mark');
  for (const hint of ['defer_loading', 'input_examples', 'eager_input_streaming', 'allowed_callers']) t.take(hint, 'tool_option');
  if (name === undefined) throw new AbpError('invalid_request', `${t.path}.name: required`);
  if (schema === undefined) throw new AbpError('invalid_request', `${t.path}.input_schema: required`);
  return {
    kind: 'function',
    name,
    ...(description === undefined ? {} : { description }),
    schema: jsonOf(schema),
    ...(strict === null || strict === undefined ? {} : { strict }),
    at: t.path,
    ...vendorMeta('claude', otherMembers(t.value, ['type', 'name', 'description', 'input_schema', 'strict'])),
  };
}

function liftHosted(t: Fields<wire.Tool>, type: string, chosen: string | undefined): IrTool {
  t.ledger.claim(t.path, 'hosted_tool');
  const hosted = HOSTED.find(([prefix]) => type.startsWith(prefix))?.[1] ?? 'vendor';
  // Each of these tools has one name, by which a choice may force it.
  if (hosted !== 'vendor' && t.value.name !== chosen) t.take('name', 'item_identity');
  const limits = hosted === 'vendor' ? {} : liftLimits(jsonOf(t.value), t.path, LIMITS, t.ledger);
  return { kind: 'hosted', hosted, name: t.value.name ?? type, ...limits, at: t.path, meta: { claude: jsonOf(t.value) } };
}

/** `stop_reason` in neutral words. */
export const FINISH: Readonly<Record<string, FinishReason>> = {
  end_turn: 'stop',
  stop_sequence: 'stop-sequence',
  max_tokens: 'length',
  tool_use: 'tool-calls',
  refusal: 'refusal',
  pause_turn: 'pause',
  // The engine made a summary of the conversation and waits to be asked to go on.
  compaction: 'pause',
  model_context_window_exceeded: 'context-window',
};

/** Claude's `input_tokens` leaves out what was read from or written to the cache. */
export function liftUsage(usage: wire.Usage | undefined): IrUsage {
  const read = usage?.cache_read_input_tokens ?? 0;
  const write = usage?.cache_creation_input_tokens ?? 0;
  return {
    inputTokens: (usage?.input_tokens ?? 0) + read + write,
    outputTokens: usage?.output_tokens ?? 0,
    cacheReadTokens: read,
    cacheWriteTokens: write,
    thinkingTokens: usage?.output_tokens_details?.thinking_tokens ?? 0,
    webSearchRequests: usage?.server_tool_use?.web_search_requests ?? 0,
    ...usageDetails({
      cacheWrite1hTokens: usage?.cache_creation?.ephemeral_1h_input_tokens ?? undefined,
      tier: usage?.speed === 'fast' ? 'fast' : usage?.service_tier === 'batch' ? 'batch' : undefined,
      region: usage?.inference_geo === 'us' ? 'us' : undefined,
      passes: passesOf(usage),
      beside: besideOf(usage?.iterations),
    }),
  };
}

/** Passes of the answer itself, where there are several and they are all that its sums are made of. */
function passesOf(usage: wire.Usage | undefined): PassUsage[] {
  const passes = listIn(usage?.iterations).flatMap((one) => (isJsonObject(one) && !BESIDE.has(one.type) ? sideUsage(one) : []));
  const { input_tokens: fresh = 0, cache_read_input_tokens: read, cache_creation_input_tokens: write } = usage ?? {};
  const input = (fresh ?? 0) + (read ?? 0) + (write ?? 0);
  const isWhole = passes.reduce((sum, pass) => sum + pass.inputTokens, 0) === input;
  return passes.length > 1 && isWhole ? joinedPasses(passes) : [];
}

/** Passes that the vendor leaves out of its sums and bills: the summary of a compaction, and an advisor, which is another model. */
const BESIDE: ReadonlySet<Json | undefined> = new Set(['compaction', 'advisor_message']);

function besideOf(iterations: unknown): SideUsage[] {
  return listIn(iterations).flatMap((one) => (isJsonObject(one) && BESIDE.has(one.type) ? sideUsage(one) : []));
}

function sideUsage(iteration: JsonObject): SideUsage[] {
  const pass = wire.Usage.safeParse(iteration);
  if (!pass.success) return [];
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, details } = liftUsage(pass.data);
  const { model } = pass.data;
  return [
    {
      ...(typeof model === 'string' && BESIDE.has(iteration.type) ? { model } : {}),
      inputTokens,
      outputTokens,
      ...(cacheReadTokens === 0 ? {} : { cacheReadTokens }),
      ...(cacheWriteTokens === 0 ? {} : { cacheWriteTokens }),
      ...(details?.cacheWrite1hTokens === undefined ? {} : { cacheWrite1hTokens: details.cacheWrite1hTokens }),
    },
  ];
}

function answerPart(block: wire.AnyBlock, ledger: Ledger): IrPart {
  const part = liftBlock(new Fields(block, '', ledger), 'text');
  if (part.kind === 'text') return { ...part, ...liftCitations(block.citations, part.text.length) };
  if (part.kind !== 'tool-call') return part;
  const { meta: _all, ...call } = part;
  return { ...call, ...callMeta(block) };
}

/** A whole Messages answer. */
export function liftResponse(body: Json): IrResponse {
  const response = parseAt(wire.Response, body, 'engine response');
  const ledger = new Ledger();
  return {
    id: response.id,
    model: response.model,
    parts: response.content.map((block) => answerPart(block, ledger)),
    finish: FINISH[response.stop_reason ?? ''] ?? 'stop',
    ...(typeof response.stop_sequence === 'string' ? { stopSequence: response.stop_sequence } : {}),
    usage: liftUsage(response.usage ?? undefined),
  };
}
