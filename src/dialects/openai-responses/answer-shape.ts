import { isJsonObject, type Json, type JsonObject, listIn } from '../../base/json.ts';
import type { AnswerConcept } from '../../ir/answer-concept.ts';
import type { VendorMeta, VendorPart } from '../../ir/part.ts';
import { type AnswerShape, below, type FoundPage, PRICED_TIERS, type ShownPart, textIn } from '../answer-shape.ts';
import { ID } from './lift-content.ts';

const OUTPUT: Record<string, AnswerConcept> = {
  '<message>': 'block_detail',
  '<message>.role': 'structure',
  '<message>.content[*]<output_text>.text': 'text',
  '<message>.content[*]<output_text>.annotations[*]<url_citation>': 'citation',
  '<message>.content[*]<output_text>.annotations[*]<url_citation>.start_index': 'citation_place',
  '<message>.content[*]<output_text>.annotations[*]<url_citation>.end_index': 'citation_place',
  '<message>.content[*]<output_text>.annotations[*]<*>': 'citation_detail',
  '<message>.content[*]<output_text>.annotations[*]<*>.filename': 'document_citation',
  '<message>.content[*]<output_text>.annotations[*]<*>.file_id': 'document_citation',
  '<message>.content[*]<output_text>.logprobs': 'logprobs',
  '<message>.content[*]<output_text>.logprobs[*].bytes': 'logprob_bytes',
  '<message>.content[*]<output_text>.logprobs[*].top_logprobs[*].bytes': 'logprob_bytes',
  '<message>.content[*]<refusal>.refusal': 'refusal',
  '<message>.content[*]<*>': 'vendor_part',
  '<reasoning>': 'reasoning_state',
  '<reasoning>.summary': 'thinking',
  '<reasoning>.content': 'thinking',
  '<reasoning>.encrypted_content': 'reasoning_state',
  '<function_call>': 'block_detail',
  '<function_call>.caller': 'call_state',
  '<function_call>.call_id': 'tool_call',
  '<function_call>.name': 'tool_call',
  '<function_call>.namespace': 'tool_call',
  '<function_call>.arguments': 'tool_call',
  '<custom_tool_call>': 'block_detail',
  '<custom_tool_call>.caller': 'call_state',
  '<custom_tool_call>.call_id': 'tool_call',
  '<custom_tool_call>.name': 'tool_call',
  '<custom_tool_call>.namespace': 'tool_call',
  '<custom_tool_call>.input': 'tool_call',
  '<image_generation_call>': 'vendor_member',
  '<image_generation_call>.result': 'image',
  '<image_generation_call>.output_format': 'image',
  '<image_generation_call>.status': 'hosted_result',
  '<code_interpreter_call>': 'vendor_member',
  '<code_interpreter_call>.code': 'code_result',
  '<code_interpreter_call>.outputs': 'code_result',
  '<web_search_call>': 'hosted_call',
  '<web_search_call>.action.sources': 'hosted_result',
  '<file_search_call>': 'vendor_member',
  '<file_search_call>.status': 'hosted_result',
  '<file_search_call>.queries': 'hosted_result',
  '<file_search_call>.results[*].filename': 'hosted_result',
  '<file_search_call>.results[*].text': 'hosted_result',
  '<mcp_call>': 'vendor_member',
  '<mcp_call>.name': 'hosted_result',
  '<mcp_call>.output': 'hosted_result',
  '<mcp_call>.error': 'hosted_result',
  '<mcp_list_tools>': 'hosted_call',
  '<*>': 'vendor_part',
};

const USAGE: Record<string, AnswerConcept> = {
  '': 'usage_detail',
  '.input_tokens': 'usage_input',
  '.input_tokens_details.cached_tokens': 'usage_cache_read',
  '.input_tokens_details.cache_write_tokens': 'usage_cache_write',
  '.output_tokens': 'usage_output',
  '.output_tokens_details.reasoning_tokens': 'usage_thinking',
  '.total_tokens': 'usage_sum',
  '.input_tokens_details.audio_tokens': 'usage_audio',
  '.output_tokens_details.audio_tokens': 'usage_audio',
};

/** Besides these a response repeats the parameters of its request. */
const RESPONSE: Record<string, AnswerConcept> = {
  '': 'echo',
  '.id': 'answer_id',
  '.object': 'structure',
  '.created_at': 'created',
  '.completed_at': 'created',
  '.model': 'model',
  '.status': 'stop_reason',
  '.incomplete_details': 'stop_reason',
  '.error': 'error',
  ...below('.usage', USAGE),
  '.tool_usage.web_search.num_requests': 'usage_search',
  '.tool_usage': 'usage_detail',
  '.service_tier': 'service_tier',
};

const TEXT_EVENTS: Readonly<Record<string, AnswerConcept>> = {
  '<response.output_text.delta>': 'text',
  '<response.refusal.delta>': 'refusal',
  '<response.reasoning_summary_text.delta>': 'thinking',
  '<response.reasoning_text.delta>': 'thinking',
  '<response.function_call_arguments.delta>': 'tool_call',
  '<response.custom_tool_call_input.delta>': 'tool_call',
};

/** Events of a stream that only repeat texts and items which other events tell. */
const REPEATED = [
  'response.output_text.done',
  'response.refusal.done',
  'response.content_part.added',
  'response.content_part.done',
  'response.reasoning_summary_part.added',
  'response.reasoning_summary_part.done',
  'response.reasoning_summary_text.done',
  'response.reasoning_text.done',
  'response.function_call_arguments.done',
  'response.custom_tool_call_input.done',
  'response.output_item.added',
  'response.output_text.annotation.added',
  'keepalive',
];

const ENDS = ['response.completed', 'response.incomplete', 'response.failed', 'response.cancelled'];
const STARTS = ['response.created', 'response.queued', 'response.in_progress'];

const EVENTS: Record<string, AnswerConcept> = {
  ...Object.assign({}, ...REPEATED.map((type) => ({ [`<${type}>`]: 'structure' }))),
  ...Object.assign({}, ...Object.keys(TEXT_EVENTS).map((type) => ({ [type]: 'structure' }))),
  ...Object.fromEntries(Object.entries(TEXT_EVENTS).map(([type, concept]) => [`${type}.delta`, concept])),
  ...Object.fromEntries(Object.keys(TEXT_EVENTS).map((type) => [`${type}.obfuscation`, 'vendor_member' as const])),
  '<response.output_text.delta>.logprobs': 'logprobs',
  '<response.output_text.delta>.logprobs[*].bytes': 'logprob_bytes',
  '<response.output_text.delta>.logprobs[*].top_logprobs[*].bytes': 'logprob_bytes',
  '<response.output_item.done>': 'structure',
  ...below('<response.output_item.done>.item', { ...OUTPUT, '<message>.content[*]<output_text>.text': 'structure' }),
  '<response.output_item.done>.item<message>.content[*]<output_text>.logprobs': 'structure',
  ...Object.assign({}, ...STARTS.map((type) => ({ [`<${type}>`]: 'structure', [`<${type}>.response`]: 'echo' }))),
  ...Object.assign({}, ...STARTS.map((type) => ({ [`<${type}>.response.id`]: 'answer_id', [`<${type}>.response.model`]: 'model' }))),
  ...Object.assign({}, ...ENDS.map((type) => ({ [`<${type}>`]: 'structure', ...below(`<${type}>.response`, RESPONSE) }))),
  ...Object.assign({}, ...ENDS.map((type) => ({ [`<${type}>.response.output`]: 'structure' }))),
  '<error>': 'error',
  '<*>': 'progress',
};

function show({ type, meta }: VendorPart): ShownPart | undefined {
  const item = meta?.[ID] ?? {};
  switch (type) {
    case 'image_generation_call':
      return typeof item.result === 'string'
        ? { kind: 'image', mediaType: `image/${textIn(item.output_format) || 'png'}`, data: item.result }
        : { kind: 'hosted_result', name: 'image generation', failed: item.status === 'failed', text: textIn(item.status) };
    case 'code_interpreter_call':
      return shownRun(item);
    case 'web_search_call':
      return shownSearch(isJsonObject(item.action) ? item.action : {});
    case 'file_search_call':
      return { kind: 'hosted_result', name: fileSearch(item), failed: item.status === 'failed', text: filesIn(item) };
    case 'mcp_call':
      return {
        ...{ kind: 'hosted_result', name: textIn(item.name), failed: item.error !== undefined && item.error !== null },
        text: typeof item.output === 'string' ? item.output : textIn(item.error) || JSON.stringify(item.error ?? null),
      };
    case 'mcp_list_tools':
      return { kind: 'hosted_call', name: `the tools of ${textIn(item.server_label)}`, input: '' };
    default:
      return undefined;
  }
}

/** One item holds the code and what came of it. */
function shownRun({ code, outputs }: JsonObject): ShownPart {
  const list = listIn(outputs);
  const output = list.map((one) => (isJsonObject(one) ? textIn(one.logs) || textIn(one.url) : '')).join('\n');
  const ran = `\`\`\`python\n${textIn(code)}\n\`\`\`\n`;
  return { kind: 'code_result', failed: false, output: `${ran}${output}`, withCode: true };
}

function shownSearch(action: JsonObject): ShownPart {
  const sources = listIn(action.sources);
  const pages = [...sources, action].flatMap((one): FoundPage[] =>
    isJsonObject(one) && typeof one.url === 'string' ? [{ url: one.url }] : [],
  );
  if (pages.length > 0) return { kind: 'pages', pages };
  return { kind: 'hosted_call', name: 'web search', input: textIn(action.query) || textIn(action.pattern) };
}

function fileSearch({ queries, status }: JsonObject): string {
  const asked = listIn(queries).map((query) => JSON.stringify(query));
  const state = status === 'completed' || status === undefined || status === null ? '' : ` (${textIn(status)})`;
  return `file search${state}${asked.length === 0 ? '' : ` for ${asked.join(', ')}`}`;
}

function filesIn({ results }: JsonObject): string {
  const found = listIn(results);
  if (found.length === 0) return 'The files that it found are not told.';
  return found.map((one) => (isJsonObject(one) ? `${textIn(one.filename)}: ${textIn(one.text)}` : '')).join('\n');
}

function places(meta: VendorMeta | undefined): readonly string[] {
  const list = meta?.[ID]?.annotations;
  if (!Array.isArray(list)) return [];
  return list.flatMap((one: Json) =>
    isJsonObject(one) && one.type !== 'url_citation'
      ? [`${[textIn(one.filename), textIn(one.file_id)].filter((name) => name !== '').join(', ') || 'file'} (${textIn(one.type)})`]
      : [],
  );
}

function form(shown: ShownPart, id: string): JsonObject | undefined {
  if (shown.kind !== 'image' || !('data' in shown)) return undefined;
  const outputFormat = shown.mediaType.slice('image/'.length);
  return { id: `ig_${id}`, type: 'image_generation_call', status: 'completed', output_format: outputFormat, result: shown.data };
}

export const answers: AnswerShape = {
  claims: { ...below('', RESPONSE), ...below('.output[*]', OUTPUT) },
  eventClaims: EVENTS,
  textCalls: true,
  stops: {
    // Some servers write `complete`.
    status: new Set(['completed', 'complete', 'incomplete', 'failed', 'cancelled', 'queued', 'in_progress']),
    incomplete_details: new Set(['max_output_tokens', 'content_filter']),
  },
  names: {
    structure: 'structure',
    text: 'output_text',
    refusal: 'refusal',
    thinking: 'reasoning.summary',
    reasoning_state: 'encrypted_content',
    tool_call: 'function_call',
    call_state: 'encrypted_content',
    image: 'image_generation_call',
    code: 'code_interpreter_call',
    code_result: 'code_interpreter_call',
    hosted_call: 'output',
    hosted_result: 'output',
    vendor_part: 'output',
    vendor_member: 'output',
    block_detail: 'output',
    citation: 'annotations',
    citation_place: 'annotations',
    citation_detail: 'annotations',
    document_citation: 'annotations',
    logprobs: 'logprobs',
    logprob_bytes: 'logprobs.bytes',
    stop_reason: 'status',
    service_tier: 'service_tier',
    usage_input: 'usage.input_tokens',
    usage_output: 'usage.output_tokens',
    usage_cache_read: 'usage.input_tokens_details.cached_tokens',
    usage_cache_write: 'usage.input_tokens_details.cache_write_tokens',
    usage_cache_write_beside: 'usage.input_tokens_details.cache_write_tokens',
    usage_thinking: 'usage.output_tokens_details.reasoning_tokens',
    usage_search: 'tool_usage.web_search',
    error: 'error',
  },
  partly: { service_tier: PRICED_TIERS },
  show,
  places,
  form,
};
