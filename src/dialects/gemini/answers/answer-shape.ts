import { isJsonObject, type Json, type JsonObject } from '../../../base/json.ts';
import type { AnswerConcept } from '../../../ir/answer-concept.ts';
import type { VendorMeta, VendorPart } from '../../../ir/part.ts';
import { type AnswerShape, below, type FoundPage, type ShownPart, textIn } from '../../answer-shape.ts';
import { FAILURES, FINISH } from './finish.ts';
import { groundedPages } from './grounding.ts';

const PART: Record<string, AnswerConcept> = {
  '<text>.text': 'text',
  '<text>.thought': 'structure',
  '<thought>.text': 'thinking',
  '<thought>.thought': 'structure',
  '<thought>.thoughtSignature': 'reasoning_state',
  '<*>.thoughtSignature': 'vendor_member',
  '<text>.thoughtSignature': 'reasoning_state',
  '<functionCall>.functionCall': 'tool_call',
  '<functionCall>.thoughtSignature': 'reasoning_state',
  '<inlineData>.inlineData<image>': 'image',
  '<inlineData>.inlineData<audio>': 'audio',
  '<inlineData>.inlineData<*>': 'vendor_part',
  '<inlineData>': 'vendor_member',
  '<fileData>.fileData<image>': 'image',
  '<fileData>.fileData<audio>': 'audio',
  '<fileData>.fileData<*>': 'vendor_part',
  '<fileData>': 'vendor_member',
  '<executableCode>.executableCode': 'code',
  '<executableCode>.executableCode.id': 'vendor_member',
  '<executableCode>': 'vendor_member',
  '<codeExecutionResult>.codeExecutionResult': 'code_result',
  '<codeExecutionResult>.codeExecutionResult.id': 'vendor_member',
  '<codeExecutionResult>': 'vendor_member',
  '<toolCall>.toolCall': 'hosted_call',
  '<toolCall>': 'vendor_member',
  '<toolResponse>.toolResponse': 'hosted_result',
  '<toolResponse>.toolResponse.id': 'vendor_member',
  '<toolResponse>': 'vendor_member',
  '<*>': 'vendor_part',
};

const CANDIDATE: Record<string, AnswerConcept> = {
  '.index': 'structure',
  '.content.role': 'structure',
  ...below('.content.parts[*]', PART),
  '.finishReason': 'stop_reason',
  '.finishMessage': 'stop_detail',
  '.tokenCount': 'vendor_member',
  '.avgLogprobs': 'vendor_member',
  '.logprobsResult': 'logprobs',
  '.logprobsResult.chosenCandidates[*].tokenId': 'vendor_member',
  '.logprobsResult.topCandidates[*].candidates[*].tokenId': 'vendor_member',
  '.safetyRatings': 'safety',
  '.citationMetadata': 'document_citation',
  '.groundingMetadata': 'vendor_member',
  '.groundingMetadata.groundingChunks[*].web': 'citation',
  '.groundingMetadata.groundingChunks[*].maps': 'vendor_member',
  '.groundingMetadata.groundingChunks[*].maps.uri': 'citation',
  '.groundingMetadata.groundingChunks[*].maps.title': 'citation',
  '.groundingMetadata.groundingChunks[*].retrievedContext': 'vendor_member',
  '.groundingMetadata.groundingChunks[*].retrievedContext.title': 'document_citation',
  '.groundingMetadata.groundingChunks[*].retrievedContext.uri': 'document_citation',
  '.groundingMetadata.groundingChunks[*].retrievedContext.text': 'document_citation',
  '.groundingMetadata.groundingSupports': 'citation_place',
  '.groundingMetadata.groundingSupports[*].segment.text': 'vendor_member',
  '.groundingMetadata.groundingSupports[*].confidenceScores': 'vendor_member',
  '.groundingMetadata.webSearchQueries': 'hosted_call',
  '.urlContextMetadata': 'hosted_result',
};

const PARTS: ReadonlySet<string> = new Set([
  'functionCall',
  'inlineData',
  'fileData',
  'executableCode',
  'codeExecutionResult',
  'toolCall',
  'toolResponse',
]);

/** Parts have no `type`: the member that they have says what they are; a medium is told by its MIME type, its tokens by their modality. */
function kindOf(value: JsonObject): string | undefined {
  if (value.text !== undefined) return value.thought === true ? 'thought' : 'text';
  if (typeof value.mimeType === 'string') return value.mimeType.slice(0, value.mimeType.indexOf('/'));
  if (typeof value.modality === 'string') return value.modality;
  for (const key in value) if (PARTS.has(key)) return key;
  return undefined;
}

function show({ type, meta }: VendorPart): ShownPart | undefined {
  const part = meta?.gemini ?? {};
  const data = part[type];
  if (!isJsonObject(data)) return undefined;
  if (type === 'inlineData' || type === 'fileData') return shownMedium(data);
  if (type === 'executableCode') return { kind: 'code', language: textIn(data.language).toLowerCase(), code: textIn(data.code) };
  if (type === 'codeExecutionResult')
    return { kind: 'code_result', failed: typeof data.outcome === 'string' && data.outcome !== 'OUTCOME_OK', output: textIn(data.output) };
  if (type === 'toolCall') return { kind: 'hosted_call', name: textIn(data.toolType), input: JSON.stringify(data.args ?? {}) };
  if (type === 'toolResponse')
    return { kind: 'hosted_result', name: textIn(data.toolType), failed: false, text: JSON.stringify(data.response ?? {}) };
  return undefined;
}

/** The member with data: those beside it are Google's own. */
function quoted({ type, meta }: VendorPart): Json {
  return meta?.gemini?.[type] ?? meta?.gemini ?? null;
}

function shownMedium({ mimeType, data, fileUri }: JsonObject): ShownPart | undefined {
  const mediaType = textIn(mimeType);
  const kind = mediaType.startsWith('image/') ? 'image' : mediaType.startsWith('audio/') ? 'audio' : undefined;
  if (kind === undefined) return undefined;
  if (typeof data === 'string') return { kind, mediaType, data };
  return typeof fileUri === 'string' ? { kind, mediaType, url: fileUri } : undefined;
}

/** Sources of the answer that are no pages of a search: texts it recited, and documents of the caller's own store. */
function places(meta: VendorMeta | undefined): readonly string[] {
  const candidate = meta?.gemini?.candidate;
  if (!isJsonObject(candidate)) return [];
  const { citationMetadata, groundingMetadata } = candidate;
  const recited = listIn(citationMetadata, 'citationSources').concat(listIn(citationMetadata, 'citations'));
  const stored = listIn(groundingMetadata, 'groundingChunks').flatMap((chunk) =>
    isJsonObject(chunk.retrievedContext) ? [chunk.retrievedContext] : [],
  );
  return [
    ...recited.map(({ title, uri, license }) => [textIn(title), textIn(uri), textIn(license)].filter((text) => text !== '').join(', ')),
    ...stored.map(({ title, uri, text }) => {
      const named = [textIn(title), textIn(uri)].filter((one) => one !== '').join(', ');
      return `${named || 'document'}: “${textIn(text).trim()}”`;
    }),
  ];
}

function pages(meta: VendorMeta | undefined): readonly FoundPage[] {
  const candidate = meta?.gemini?.candidate;
  return isJsonObject(candidate) ? groundedPages(candidate.groundingMetadata) : [];
}

function listIn(value: Json | undefined, key: string): readonly JsonObject[] {
  const list = isJsonObject(value) ? value[key] : undefined;
  return Array.isArray(list) ? list.filter((one: Json) => isJsonObject(one)) : [];
}

function form(shown: ShownPart): JsonObject | undefined {
  switch (shown.kind) {
    case 'image':
    case 'audio':
      return 'data' in shown
        ? { inlineData: { mimeType: shown.mediaType, data: shown.data } }
        : { fileData: { mimeType: shown.mediaType, fileUri: shown.url } };
    case 'code':
      // The enumeration of the vendor knows Python alone.
      return { executableCode: { language: shown.language === 'python' ? 'PYTHON' : 'LANGUAGE_UNSPECIFIED', code: shown.code } };
    case 'code_result':
      // A result without the code before it is none to the SDKs of this dialect, some of which fail.
      if (shown.withCode === true) return undefined;
      return { codeExecutionResult: { outcome: shown.failed ? 'OUTCOME_FAILED' : 'OUTCOME_OK', output: shown.output } };
    default:
      return undefined;
  }
}

export const answers: AnswerShape = {
  cutCalls: 'nowhere',
  stops: { finishReason: new Set([...Object.keys(FINISH), ...FAILURES]) },
  claims: {
    '.responseId': 'answer_id',
    '.modelVersion': 'model',
    '.createTime': 'vendor_member',
    '.promptFeedback': 'safety',
    '.promptFeedback.blockReason': 'stop_reason',
    ...below('.candidates[*]', CANDIDATE),
    '.usageMetadata': 'usage_detail',
    '.usageMetadata.promptTokenCount': 'usage_input',
    '.usageMetadata.toolUsePromptTokenCount': 'usage_input',
    '.usageMetadata.candidatesTokenCount': 'usage_output',
    '.usageMetadata.thoughtsTokenCount': 'usage_thinking',
    '.usageMetadata.cachedContentTokenCount': 'usage_cache_read',
    '.usageMetadata.promptTokensDetails[*]<AUDIO>': 'usage_audio',
    '.usageMetadata.candidatesTokensDetails[*]<AUDIO>': 'usage_audio',
    '.usageMetadata.candidatesTokensDetails[*]<IMAGE>': 'usage_image',
    '.usageMetadata.cacheTokensDetails[*]<AUDIO>': 'usage_audio_cached',
    '.usageMetadata.totalTokenCount': 'usage_sum',
    '.error': 'error',
  },
  kindOf,
  names: {
    structure: 'structure',
    answer_id: 'responseId',
    text: 'text',
    refusal: 'text',
    thinking: 'thought',
    reasoning_state: 'thoughtSignature',
    tool_call: 'functionCall',
    call_state: 'thoughtSignature',
    image: 'inlineData',
    audio: 'inlineData',
    code: 'executableCode',
    code_result: 'codeExecutionResult',
    hosted_call: 'groundingMetadata',
    hosted_result: 'urlContextMetadata',
    vendor_part: 'parts',
    vendor_member: 'candidate',
    safety: 'safetyRatings',
    citation: 'groundingMetadata',
    citation_place: 'groundingMetadata',
    document_citation: 'citationMetadata',
    logprobs: 'logprobsResult',
    stop_reason: 'finishReason',
    stop_detail: 'finishMessage',
    usage_input: 'usageMetadata.promptTokenCount',
    usage_output: 'usageMetadata.candidatesTokenCount',
    usage_cache_write_beside: 'usageMetadata.promptTokenCount',
    usage_cache_read: 'usageMetadata.cachedContentTokenCount',
    usage_audio: 'usageMetadata.promptTokensDetails',
    usage_audio_cached: 'usageMetadata.cacheTokensDetails',
    usage_image: 'usageMetadata.candidatesTokensDetails',
    usage_thinking: 'usageMetadata.thoughtsTokenCount',
    error: 'error',
  },
  show,
  quoted,
  places,
  pages,
  form,
};
