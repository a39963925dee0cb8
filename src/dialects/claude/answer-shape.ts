import { isJsonObject, type Json, type JsonObject, listIn, objectIn } from '../../base/json.ts';
import { parseShallowObject } from '../../base/json-limits.ts';
import type { AnswerConcept } from '../../ir/answer-concept.ts';
import type { VendorMeta, VendorPart } from '../../ir/part.ts';
import { type AnswerShape, below, type FoundPage, type ShownPart, textIn, typeOf } from '../answer-shape.ts';
import { FINISH } from './lift.ts';

const USAGE: Record<string, AnswerConcept> = {
  '': 'usage_detail',
  '.input_tokens': 'usage_input',
  '.output_tokens': 'usage_output',
  '.cache_read_input_tokens': 'usage_cache_read',
  '.cache_creation_input_tokens': 'usage_cache_write_beside',
  '.cache_creation.ephemeral_1h_input_tokens': 'usage_cache_write_hour',
  '.output_tokens_details.thinking_tokens': 'usage_thinking',
  '.server_tool_use.web_search_requests': 'usage_search',
  '.service_tier': 'service_tier',
  '.inference_geo': 'vendor_member',
};

/** A line below the text tells where in a document the answer rests; numbers of documents and letters mean nothing without the request. */
const DOCUMENT_CITATION: Record<string, AnswerConcept> = {
  '': 'citation_detail',
  '.cited_text': 'document_citation',
  '.document_title': 'document_citation',
  '.title': 'document_citation',
  '.source': 'document_citation',
  '.start_page_number': 'document_citation',
  '.end_page_number': 'document_citation',
};

/** A result that is told in words. */
const RESULT: Record<string, AnswerConcept> = {
  '': 'block_detail',
  '.is_error': 'hosted_result',
  '.content': 'hosted_result',
  '.content[*].citations': 'block_detail',
};

const BLOCK: Record<string, AnswerConcept> = {
  '<text>.text': 'text',
  '<text>.citations[*]<web_search_result_location>': 'citation',
  '<text>.citations[*]<web_search_result_location>.cited_text': 'citation_detail',
  '<text>.citations[*]<web_search_result_location>.encrypted_index': 'citation_detail',
  ...below('<text>.citations[*]<*>', DOCUMENT_CITATION),
  '<thinking>.thinking': 'thinking',
  '<thinking>.signature': 'reasoning_state',
  '<redacted_thinking>.data': 'reasoning_state',
  '<tool_use>.id': 'tool_call',
  '<tool_use>.name': 'tool_call',
  '<tool_use>.input': 'tool_call',
  '<tool_use>': 'call_state',
  '<server_tool_use>': 'hosted_call',
  '<server_tool_use:code>': 'block_detail',
  '<server_tool_use:code>.name': 'code',
  '<server_tool_use:code>.input': 'code',
  '<mcp_tool_use>': 'hosted_call',
  ...below('<web_search_tool_result>', {
    '': 'block_detail',
    '.content[*].url': 'hosted_result',
    '.content[*].title': 'hosted_result',
    '.content.error_code': 'hosted_result',
  }),
  ...below('<web_fetch_tool_result>', {
    '': 'block_detail',
    '.content.url': 'hosted_result',
    '.content.content.title': 'hosted_result',
    '.content.error_code': 'hosted_result',
  }),
  ...below('<mcp_tool_result>', RESULT),
  ...below('<tool_search_tool_result>', RESULT),
  ...below('<text_editor_code_execution_tool_result>', RESULT),
  '<code_execution_tool_result>': 'code_result',
  '<bash_code_execution_tool_result>': 'code_result',
  '<code_execution_tool_result>.tool_use_id': 'block_detail',
  '<code_execution_tool_result>.content.encrypted_stdout': 'block_detail',
  '<bash_code_execution_tool_result>.tool_use_id': 'block_detail',
  ...below('<tool_result>', RESULT),
  '<*>': 'vendor_part',
};

const MESSAGE: Record<string, AnswerConcept> = {
  '.type': 'structure',
  '.id': 'answer_id',
  '.role': 'structure',
  '.model': 'model',
  '.stop_reason': 'stop_reason',
  '.stop_sequence': 'stop_sequence',
  '.container': 'vendor_member',
  '.context_management': 'vendor_member',
  '.stop_details': 'vendor_member',
  ...below('.usage', USAGE),
};

const EVENTS: Record<string, AnswerConcept> = {
  ...below('<message_start>.message', MESSAGE),
  '<message_start>': 'structure',
  '<content_block_start>': 'structure',
  ...below('<content_block_start>.content_block', BLOCK),
  '<content_block_delta>': 'structure',
  '<content_block_delta>.delta<text_delta>.text': 'text',
  '<content_block_delta>.delta<input_json_delta>.partial_json': 'tool_call',
  '<content_block_delta:hosted>': 'structure',
  '<content_block_delta:hosted>.delta<input_json_delta>.partial_json': 'hosted_call',
  '<content_block_delta:code>': 'structure',
  '<content_block_delta:code>.delta<input_json_delta>.partial_json': 'code',
  '<content_block_delta>.delta<thinking_delta>.thinking': 'thinking',
  '<content_block_delta>.delta<signature_delta>.signature': 'reasoning_state',
  '<content_block_delta>.delta<citations_delta>.citation<web_search_result_location>': 'citation',
  '<content_block_delta>.delta<citations_delta>.citation<web_search_result_location>.cited_text': 'citation_detail',
  '<content_block_delta>.delta<citations_delta>.citation<web_search_result_location>.encrypted_index': 'citation_detail',
  ...below('<content_block_delta>.delta<citations_delta>.citation<*>', DOCUMENT_CITATION),
  '<content_block_delta>.delta<*>': 'vendor_part',
  '<content_block_stop>': 'structure',
  ...below('<message_delta>.delta', MESSAGE),
  ...below('<message_delta>.usage', USAGE),
  '<message_delta>': 'vendor_member',
  '<message_stop>': 'structure',
  '<ping>': 'structure',
  '<error>': 'error',
};

const RUNS_CODE = /^(?:bash_)?code_execution$/;

/** A call of the tool that runs code holds the code, which callers of other dialects are told; results of tools that nobody knows are alike. */
function kindOf(value: JsonObject): string | undefined {
  const type = typeOf(value);
  if (type === 'server_tool_use') return RUNS_CODE.test(textIn(value.name)) ? 'server_tool_use:code' : type;
  return type?.endsWith('_tool_result') && !(`<${type}>` in BLOCK) ? 'tool_result' : type;
}

const OPENED: Readonly<Record<string, string>> = {
  server_tool_use: 'content_block_delta:hosted',
  mcp_tool_use: 'content_block_delta:hosted',
  'server_tool_use:code': 'content_block_delta:code',
};

/** The arguments of a call come in pieces, which do not say whose call it is: their block did when it began. */
function kinds(): typeof kindOf {
  const open = new Map<Json | undefined, string>();
  return (value) => {
    const kind = kindOf(value);
    if (kind === 'content_block_delta') return open.get(value.index) ?? kind;
    if (kind !== 'content_block_start') return kind;
    const pieces = isJsonObject(value.content_block) ? OPENED[kindOf(value.content_block) ?? ''] : undefined;
    if (pieces === undefined) open.delete(value.index);
    else open.set(value.index, pieces);
    return kind;
  };
}

const TOOL_NAMES: Readonly<Record<string, string>> = {
  mcp_tool_result: 'MCP tool',
  tool_search_tool_result: 'tool search',
  text_editor_code_execution_tool_result: 'text editor',
};

/** Blocks of hosted tools: calls say what was asked, results what came of it. */
function show({ type, text, meta }: VendorPart): ShownPart | undefined {
  const block = meta?.claude ?? {};
  if (type === 'server_tool_use' || type === 'mcp_tool_use') return shownCall(block, text);
  if (type === 'web_search_tool_result' || type === 'web_fetch_tool_result') return shownPages(type, block.content);
  if (type === 'code_execution_tool_result' || type === 'bash_code_execution_tool_result') return shownRun(block.content);
  if (type === 'search_result' || type === 'document') return shownPassage(block);
  if (type === 'tool_reference') return { kind: 'passage', heads: [`the tool ${textIn(block.tool_name)}`], text: '' };
  if (!type.endsWith('_tool_result')) return undefined;
  return { kind: 'hosted_result', name: TOOL_NAMES[type] ?? type, failed: block.is_error === true, text: wordsIn(block.content) };
}

/** A source that the caller quotes: a result of its own search, or a document of blocks. */
function shownPassage({ title, context, source, content }: JsonObject): ShownPart {
  const heads = [title, context, source].map(textIn).filter((head) => head !== '');
  return { kind: 'passage', heads, text: wordsIn(content ?? objectIn(source)?.content) };
}

function shownCall(block: JsonObject, streamed: string | undefined): ShownPart {
  const told = streamed === undefined ? undefined : parseShallowObject(streamed);
  const input = told ?? (isJsonObject(block.input) ? block.input : {});
  const code = textIn(input.code) || textIn(input.command);
  if (RUNS_CODE.test(textIn(block.name)) && code !== '')
    return { kind: 'code', language: input.command === undefined ? 'python' : 'bash', code };
  return { kind: 'hosted_call', name: textIn(block.name), input: JSON.stringify(input) };
}

function shownPages(type: string, content: Json | undefined): ShownPart {
  const found = Array.isArray(content) ? listIn(content) : [content ?? null];
  const pages = found.flatMap((one): FoundPage[] => {
    if (!isJsonObject(one) || typeof one.url !== 'string') return [];
    const title = textIn(one.title) || (isJsonObject(one.content) ? textIn(one.content.title) : '');
    return [{ url: one.url, ...(title === '' ? {} : { title }) }];
  });
  const failed = isJsonObject(content) && typeof content.error_code === 'string' ? content.error_code : undefined;
  if (failed === undefined) return { kind: 'pages', pages };
  return { kind: 'hosted_result', name: type === 'web_search_tool_result' ? 'web search' : 'web fetch', failed: true, text: failed };
}

function shownRun(content: Json | undefined): ShownPart {
  const result = isJsonObject(content) ? content : {};
  const files = listIn(result.content).map((one) =>
    isJsonObject(one) && one.file_id !== undefined ? `[file] ${textIn(one.file_id)}` : '',
  );
  const code = result.return_code ?? 0;
  const output = [result.stdout, result.stderr, result.error_code, code === 0 ? '' : `return code ${String(code)}`, ...files]
    .map(textIn)
    .filter((text) => text !== '')
    .join('\n');
  return { kind: 'code_result', failed: result.error_code !== undefined || code !== 0, output };
}

function wordsIn(content: Json | undefined): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return content === undefined ? '' : JSON.stringify(content);
  return content.map((one: Json) => (isJsonObject(one) && typeof one.text === 'string' ? one.text : JSON.stringify(one))).join('\n');
}

/** Citations of documents and of search results that the caller gave; those of the web are told as pages. */
function places(meta: VendorMeta | undefined): readonly string[] {
  const list = meta?.claude?.citations;
  if (!Array.isArray(list)) return [];
  return list.flatMap((one: Json) => (isJsonObject(one) && one.type !== 'web_search_result_location' ? [placeOf(one)] : []));
}

function placeOf(citation: JsonObject): string {
  const named = [textIn(citation.document_title), textIn(citation.title), textIn(citation.source)].filter((text) => text !== '');
  const title = named.length === 0 ? 'document' : [...new Set(named)].join(', ');
  const { start_page_number: from, end_page_number: to } = citation;
  const pages = typeof from === 'number' ? `, page ${from}${typeof to === 'number' && to - 1 > from ? `–${to - 1}` : ''}` : '';
  return `${title}${pages}: “${textIn(citation.cited_text).trim()}”`;
}

export const answers: AnswerShape = {
  claims: { ...below('', MESSAGE), ...below('.content[*]', BLOCK) },
  eventClaims: EVENTS,
  cutCalls: 'streamed',
  stops: { stop_reason: new Set(Object.keys(FINISH)) },
  kinds,
  names: {
    structure: 'structure',
    answer_id: 'id',
    text: 'text',
    refusal: 'text',
    thinking: 'thinking',
    reasoning_state: 'signature',
    tool_call: 'tool_use',
    call_state: 'tool_use',
    block_detail: 'content',
    code: 'server_tool_use',
    code_result: 'code_execution_tool_result',
    hosted_call: 'server_tool_use',
    hosted_result: 'tool result',
    vendor_part: 'content',
    citation: 'citations',
    citation_detail: 'citations',
    document_citation: 'citations',
    stop_reason: 'stop_reason',
    stop_sequence: 'stop_sequence',
    usage_input: 'usage.input_tokens',
    usage_output: 'usage.output_tokens',
    usage_cache_read: 'usage.cache_read_input_tokens',
    usage_cache_write: 'usage.cache_creation_input_tokens',
    usage_cache_write_hour: 'usage.cache_creation.ephemeral_1h_input_tokens',
    usage_cache_write_beside: 'usage.cache_creation_input_tokens',
    usage_thinking: 'usage.output_tokens_details.thinking_tokens',
    usage_search: 'usage.server_tool_use.web_search_requests',
    service_tier: 'usage.service_tier',
    error: 'error',
  },
  partly: { service_tier: 'the caller reads the tier only where it is that of a batch' },
  show,
  places,
};
