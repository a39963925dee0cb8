import { isJsonObject, type Json, type JsonObject, listIn } from '../../../../base/json.ts';
import type { AnswerConcept } from '../../../../ir/answer-concept.ts';
import type { VendorMeta, VendorPart } from '../../../../ir/part.ts';
import { type AnswerShape, below, PRICED_TIERS, type ShownPart, textIn } from '../../../answer-shape.ts';
import type { ChatFlavour } from '../flavour.ts';
import { FINISH } from '../lift-response.ts';
import { quotedIn } from './content.ts';

const MESSAGE: Record<string, AnswerConcept> = {
  '.role': 'structure',
  '.padding': 'vendor_member',
  '.content': 'text',
  '.content[*]<text>': 'text',
  '.content[*]<refusal>': 'refusal',
  '.content[*]<thinking>': 'thinking',
  '.content[*]<image_url>': 'image',
  '.content[*]<*>': 'vendor_part',
  '.refusal': 'refusal',
  '.annotations[*]<url_citation>': 'citation',
  '.annotations[*]<url_citation>.url_citation.start_index': 'citation_place',
  '.annotations[*]<url_citation>.url_citation.end_index': 'citation_place',
  '.annotations[*]<*>': 'document_citation',
  '.tool_calls': 'tool_call',
  '.tool_calls[*].index': 'structure',
  '.function_call': 'tool_call',
  '.audio': 'block_detail',
  '.audio.data': 'audio',
  '.audio.transcript': 'transcript',
  '.images': 'image',
};

const USAGE: Record<string, AnswerConcept> = {
  '': 'usage_detail',
  '.prompt_tokens': 'usage_input',
  '.completion_tokens': 'usage_output',
  '.total_tokens': 'usage_sum',
  '.prompt_tokens_details.cached_tokens': 'usage_cache_read',
  '.cached_tokens': 'usage_cache_read',
  '.prompt_cache_hit_tokens': 'usage_cache_read',
  '.prompt_tokens_details.cache_write_tokens': 'usage_cache_write',
  '.completion_tokens_details.reasoning_tokens': 'usage_thinking',
  '.reasoning_tokens': 'usage_thinking',
  '.prompt_tokens_details.audio_tokens': 'usage_audio',
  '.completion_tokens_details.audio_tokens': 'usage_audio',
};

function claimsOf(flavour: ChatFlavour): Record<string, AnswerConcept> {
  const reasoning = Object.fromEntries(flavour.reasoning.map((name) => [`.${name}`, 'thinking' as const]));
  const state = Object.fromEntries(flavour.state.map((name) => [`.${name}`, 'reasoning_state' as const]));
  const message = { ...MESSAGE, ...reasoning, ...state };
  const choice: Record<string, AnswerConcept> = {
    '.index': 'structure',
    ...below('.message', message),
    ...below('.delta', message),
    '.finish_reason': 'stop_reason',
    '.native_finish_reason': 'vendor_member',
    '.error': 'error',
    '.stop_reason': 'stop_sequence',
    '.matched_stop': 'stop_sequence',
    '.logprobs': 'logprobs',
    '.logprobs.content[*].bytes': 'logprob_bytes',
    '.logprobs.content[*].top_logprobs[*].bytes': 'logprob_bytes',
    '.content_filter_results': 'safety',
    '.content_filter_offsets': 'safety',
    ...below('.usage', USAGE),
  };
  return {
    '.id': 'answer_id',
    '.object': 'structure',
    '.created': 'created',
    '.model': 'model',
    '.service_tier': 'service_tier',
    '.system_fingerprint': 'vendor_member',
    '.obfuscation': 'vendor_member',
    '.prompt_filter_results': 'safety',
    ...below('.choices[*]', choice),
    ...below('.usage', USAGE),
    '.error': 'error',
  };
}

/** Media that stand beside the text of an answer. */
function showIn(flavour: ChatFlavour, { type, meta }: VendorPart): ShownPart | undefined {
  const value = meta?.[flavour.id]?.[type];
  if (type === 'audio' && isJsonObject(value)) return shownAudio(value);
  const [image] = listIn(value);
  const url = isJsonObject(image) && isJsonObject(image.image_url) ? textIn(image.image_url.url) : '';
  return type === 'images' && url !== '' ? shownImage(url) : undefined;
}

/** In a stream, the words and the bytes come in pieces of their own. */
function shownAudio({ data, transcript }: JsonObject): ShownPart {
  const words = textIn(transcript);
  if (typeof data !== 'string') return { kind: 'transcript', words };
  return { kind: 'audio', mediaType: 'audio/wav', data, ...(words === '' ? {} : { words }) };
}

function shownImage(url: string): ShownPart {
  const [, mediaType, data] = /^data:([^;,]+);base64,(.*)$/s.exec(url) ?? [];
  if (mediaType === undefined || data === undefined) return { kind: 'image', mediaType: 'image/*', url };
  return { kind: 'image', mediaType, data };
}

function placesIn(flavour: ChatFlavour, meta: VendorMeta | undefined): readonly string[] {
  const list = meta?.[flavour.id]?.annotations;
  if (!Array.isArray(list)) return [];
  return list.flatMap((one: Json) => (isJsonObject(one) && one.type !== 'url_citation' ? [placeOf(one)] : []));
}

function placeOf(annotation: JsonObject): string {
  const inner = annotation[textIn(annotation.type)];
  const told = isJsonObject(inner) ? inner : annotation;
  return `${textIn(told.filename) || textIn(told.file_id) || textIn(told.title) || 'document'} (${textIn(annotation.type)})`;
}

/** How the answers of one member of the Chat family look. */
export function chatAnswers(flavour: ChatFlavour): AnswerShape {
  const { reasoningField, carrier, details } = flavour;
  return {
    claims: claimsOf(flavour),
    textCalls: true,
    stops: { finish_reason: new Set(Object.keys(FINISH)) },
    names: {
      structure: 'structure',
      answer_id: 'id',
      text: 'message.content',
      refusal: 'message.refusal',
      ...(reasoningField === undefined ? {} : { thinking: `message.${reasoningField}` }),
      ...(reasoningField === undefined && details ? { thinking: 'message.reasoning_details' } : {}),
      ...(carrier === undefined ? {} : { reasoning_state: `message.${carrier}`, call_state: `message.${carrier}` }),
      ...(details ? { reasoning_state: 'message.reasoning_details', call_state: 'message.tool_calls.extra_content' } : {}),
      tool_call: 'message.tool_calls',
      audio: 'message.audio',
      transcript: 'message.audio',
      block_detail: 'message.audio',
      image: 'message.images',
      vendor_part: 'message.content',
      ...(flavour.messageMembers.annotations === undefined
        ? {}
        : { citation: 'message.annotations', citation_place: 'message.annotations', document_citation: 'message.annotations' }),
      logprobs: 'logprobs',
      logprob_bytes: 'logprobs.bytes',
      stop_reason: 'finish_reason',
      service_tier: 'service_tier',
      usage_input: 'usage.prompt_tokens',
      usage_output: 'usage.completion_tokens',
      usage_cache_read: 'usage.prompt_tokens_details.cached_tokens',
      usage_cache_write: 'usage.prompt_tokens_details.cache_write_tokens',
      usage_cache_write_beside: 'usage.prompt_tokens_details.cache_write_tokens',
      usage_audio: 'usage.prompt_tokens_details.audio_tokens',
      usage_thinking: 'usage.completion_tokens_details.reasoning_tokens',
      error: 'error',
    },
    partly: {
      service_tier: PRICED_TIERS,
      ...(carrier === undefined ? {} : { call_state: 'the state of the first call is carried' }),
    },
    show: (part) => showIn(flavour, part),
    quoted: (part) => quotedIn(flavour, part),
    places: (meta) => placesIn(flavour, meta),
  };
}
