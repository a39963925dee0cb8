import type { EmulationEntry } from '../contract/negotiation.ts';

interface AnswerConceptRow {
  readonly title: string;
  /** Only the dialect that wrote it understands it: it survives on that dialect and nowhere else. */
  readonly own?: boolean;
  /** The gateway tells the caller its own value; the note says which. */
  readonly ours?: string;
  /** The IR holds a part of it, so a caller of the same dialect reads no more than others do. */
  readonly partOnly?: boolean;
  /** The capability under which a receipt lists it when the caller reads an approximation. */
  readonly as?: EmulationEntry['capability'];
}

/** Meanings of members of an engine's answer. A member keeps its meaning if the caller's dialect has a name for it. */
const ANSWER_CONCEPTS = {
  structure: { title: 'Structure of the answer' },
  answer_id: { title: 'Id of the answer' },
  created: { title: 'Time of the answer', ours: 'the caller reads the time at which its own call began' },
  model: { title: 'Model name', ours: 'the caller reads the model name that it asked for; the receipt holds the engine’s' },
  text: { title: 'Text', as: 'structured_output_json_schema' },
  refusal: { title: 'Refusal' },
  thinking: { title: 'Reasoning', as: 'extended_thinking' },
  reasoning_state: { title: 'Opaque state of the reasoning', as: 'extended_thinking' },
  tool_call: { title: 'Tool call', as: 'tool_use' },
  call_state: { title: 'Opaque state of a tool call', as: 'extended_thinking' },
  block_detail: { title: 'Detail of a block', own: true },
  image: { title: 'Generated image', as: 'image_generation' },
  audio: { title: 'Generated audio', as: 'audio' },
  transcript: { title: 'Words of generated audio', as: 'audio' },
  code: { title: 'Code that the engine ran', as: 'code_execution' },
  code_result: { title: 'Result of code that the engine ran', as: 'code_execution' },
  hosted_call: { title: 'Call of a hosted tool', own: true, as: 'tool_use' },
  hosted_result: { title: 'Result of a hosted tool', own: true, as: 'tool_use' },
  vendor_part: { title: 'Part that only its vendor has', own: true, as: 'tool_use' },
  citation: { title: 'Citation of a page' },
  citation_place: { title: 'Place of a citation', as: 'pdf_input' },
  citation_detail: { title: 'Detail of a citation', own: true },
  document_citation: { title: 'Citation of a document', own: true, as: 'pdf_input' },
  logprobs: { title: 'Logprobs' },
  logprob_bytes: { title: 'Bytes of a token' },
  stop_reason: { title: 'Reason to stop', as: 'tool_use' },
  stop_detail: { title: 'Words about the reason to stop', own: true },
  stop_sequence: { title: 'Stop sequence that ended the answer' },
  usage_input: { title: 'Tokens read' },
  usage_output: { title: 'Tokens written' },
  usage_cache_read: { title: 'Tokens read from a cache' },
  usage_cache_write: { title: 'Tokens written to a cache' },
  usage_cache_write_hour: { title: 'Tokens written to a cache for an hour', own: true },
  usage_cache_write_beside: { title: 'Tokens written to a cache, counted beside the rest of the input' },
  usage_thinking: { title: 'Tokens of the reasoning' },
  usage_search: { title: 'Number of web searches' },
  usage_audio: { title: 'Tokens of audio' },
  usage_audio_cached: { title: 'Tokens of audio read from a cache' },
  usage_image: { title: 'Tokens of generated images' },
  usage_sum: { title: 'Sum of the counts', ours: 'the caller reads the sum of its own counts' },
  usage_detail: { title: 'Detail of the usage', ours: 'the receipt counts it; the caller’s usage has no member for it' },
  service_tier: { title: 'Service tier', partOnly: true, as: 'service_tier' },
  progress: { title: 'Progress of a hosted tool', own: true },
  safety: { title: 'Ratings of a filter', own: true },
  echo: { title: 'Repetition of the request', ours: 'it repeats the request that the engine got' },
  vendor_member: { title: 'Member that only its vendor has', own: true },
  header: { title: 'Header of the answer', own: true },
  error: { title: 'Error' },
} as const satisfies Record<string, AnswerConceptRow>;

export type AnswerConcept = keyof typeof ANSWER_CONCEPTS;

export function answerConceptRow(concept: AnswerConcept): AnswerConceptRow {
  return ANSWER_CONCEPTS[concept];
}
