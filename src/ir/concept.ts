interface ConceptRow {
  readonly weight: 'meaning' | 'hint';
  readonly title: string;
  readonly own?: boolean;
}

/**
 * What a field of a request means. `weight` decides what may happen to it on an engine that has no form for it:
 * `meaning` changes the answer or its safety, so it is mapped, emulated or refused, never dropped;
 * `hint` does not (metadata, cache marks, service hints), so best_effort may drop it and report it.
 * `own` marks what only the dialect that wrote it understands: it survives on that dialect and nowhere else.
 */
export const CONCEPTS = {
  model: { weight: 'meaning', title: 'Model' },
  stream: { weight: 'meaning', title: 'Streaming' },
  structure: { weight: 'meaning', title: 'Message structure' },
  system: { weight: 'meaning', title: 'System prompt' },
  system_in_place: { weight: 'meaning', title: 'System message inside the conversation' },
  prefill: { weight: 'meaning', title: 'Assistant prefill' },
  message_name: { weight: 'hint', title: 'Participant name' },
  text: { weight: 'meaning', title: 'Text' },
  citation: { weight: 'hint', own: true, title: 'Citations of earlier answers' },
  image: { weight: 'meaning', title: 'Image input' },
  image_detail: { weight: 'hint', title: 'Image detail' },
  document: { weight: 'meaning', title: 'Document input' },
  document_label: { weight: 'hint', title: 'Document title and context' },
  document_citations: { weight: 'meaning', title: 'Document citations' },
  audio: { weight: 'meaning', title: 'Audio input' },
  video: { weight: 'meaning', title: 'Video input' },
  stored_file: { weight: 'meaning', own: true, title: 'Stored file' },
  thinking_history: { weight: 'hint', title: 'Reasoning of earlier answers' },
  reasoning_state: { weight: 'hint', own: true, title: 'Opaque reasoning state' },
  tool_call: { weight: 'meaning', title: 'Tool call' },
  tool_result: { weight: 'meaning', title: 'Tool result' },
  tool_result_media: { weight: 'meaning', title: 'Media in a tool result' },
  tool_result_error: { weight: 'meaning', title: 'Error flag of a tool result' },
  refusal: { weight: 'meaning', title: 'Refusal' },
  vendor_block: { weight: 'meaning', own: true, title: 'Vendor block' },
  tool: { weight: 'meaning', title: 'Tool declaration' },
  tool_strict: { weight: 'meaning', title: 'Strict tool schema' },
  tool_option: { weight: 'hint', own: true, title: 'Tool hint' },
  custom_tool: { weight: 'meaning', title: 'Free-form tool' },
  hosted_tool: { weight: 'meaning', title: 'Hosted tool' },
  tool_choice: { weight: 'meaning', title: 'Tool choice' },
  parallel_tool_calls: { weight: 'meaning', title: 'Parallel tool calls' },
  max_tokens: { weight: 'meaning', title: 'Token limit' },
  stop_sequences: { weight: 'meaning', title: 'Stop sequences' },
  temperature: { weight: 'meaning', title: 'Temperature' },
  top_p: { weight: 'meaning', title: 'Nucleus sampling' },
  top_k: { weight: 'meaning', title: 'Top-k sampling' },
  seed: { weight: 'meaning', title: 'Seed' },
  frequency_penalty: { weight: 'meaning', title: 'Frequency penalty' },
  presence_penalty: { weight: 'meaning', title: 'Presence penalty' },
  logit_bias: { weight: 'meaning', title: 'Logit bias' },
  count: { weight: 'meaning', title: 'Several answers' },
  logprobs: { weight: 'meaning', title: 'Logprobs' },
  json_mode: { weight: 'meaning', title: 'JSON mode' },
  json_schema: { weight: 'meaning', title: 'Structured output' },
  thinking: { weight: 'meaning', title: 'Extended thinking' },
  effort: { weight: 'meaning', title: 'Reasoning effort' },
  reasoning_summary: { weight: 'hint', title: 'Reasoning summary' },
  verbosity: { weight: 'hint', title: 'Verbosity' },
  safety_settings: { weight: 'meaning', own: true, title: 'Safety settings' },
  safety_filters_off: { weight: 'hint', own: true, title: 'Safety filters turned off' },
  modalities: { weight: 'meaning', title: 'Output modalities' },
  stored_state: { weight: 'meaning', own: true, title: 'Stored conversation state' },
  background: { weight: 'meaning', own: true, title: 'Background mode' },
  storage: { weight: 'hint', own: true, title: 'Storage of the answer' },
  context_management: { weight: 'hint', own: true, title: 'Context management' },
  cache_mark: { weight: 'hint', own: true, title: 'Cache mark' },
  cached_content: { weight: 'meaning', own: true, title: 'Cached content' },
  end_user: { weight: 'hint', title: 'End user id' },
  metadata: { weight: 'hint', title: 'Metadata' },
  service_tier: { weight: 'hint', title: 'Service tier' },
  prediction: { weight: 'hint', own: true, title: 'Predicted output' },
  stream_options: { weight: 'hint', own: true, title: 'Stream options' },
  feature_switch: { weight: 'hint', own: true, title: 'Feature switch of the vendor' },
  vendor_option: { weight: 'meaning', own: true, title: 'Vendor option' },
} as const satisfies Record<string, ConceptRow>;

export type Concept = keyof typeof CONCEPTS;

export function conceptRow(concept: Concept): ConceptRow {
  return CONCEPTS[concept];
}
