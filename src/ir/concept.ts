import type { EmulationEntry } from '../contract/negotiation.ts';

interface ConceptRow {
  readonly weight: 'meaning' | 'hint' | 'nothing';
  readonly title: string;
  readonly own?: boolean;
  /** The gateway serves it where the engine cannot, so that the request to the engine says nothing of it. */
  readonly served?: boolean;
  /** The capability under which a receipt lists it when it was approximated. */
  readonly as?: EmulationEntry['capability'];
}

/**
 * The meanings of fields of a request. `weight` decides what may happen to it on an engine that has no form for it:
 * `meaning` changes the answer or its safety, so it is mapped, emulated or refused, never dropped;
 * `hint` does not (metadata, cache marks, service hints), so best_effort may drop it and report it;
 * `nothing` says nothing that an engine could act on (ids of earlier items), so strict may drop it, too.
 * `own` marks what only the dialect that wrote it understands: it survives on that dialect and nowhere else.
 */
export const CONCEPTS = {
  model: { weight: 'meaning', title: 'Model' },
  stream: { weight: 'meaning', title: 'Streaming' },
  structure: { weight: 'meaning', title: 'Message structure' },
  token_count: { weight: 'meaning', title: 'Token count', as: 'token_counting' },
  system: { weight: 'meaning', title: 'System prompt', as: 'system_message' },
  system_in_place: { weight: 'meaning', title: 'System message inside the conversation', as: 'system_message' },
  prefill: { weight: 'meaning', title: 'Assistant prefill', as: 'system_message' },
  item_identity: { weight: 'nothing', own: true, title: 'Identity of an item' },
  result_name: { weight: 'nothing', title: 'Name beside a tool result' },
  media_type: { weight: 'nothing', title: 'Media type beside an address' },
  usage_in_stream: { weight: 'nothing', own: true, title: 'Usage in the stream' },
  message_name: { weight: 'hint', title: 'Participant name' },
  text: { weight: 'meaning', title: 'Text', as: 'system_message' },
  citation: { weight: 'hint', own: true, title: 'Citations of earlier answers' },
  image: { weight: 'meaning', title: 'Image input', as: 'vision' },
  image_detail: { weight: 'hint', title: 'Image detail', as: 'vision' },
  media_resolution: { weight: 'hint', own: true, title: 'Media resolution' },
  document: { weight: 'meaning', title: 'Document input', as: 'pdf_input' },
  document_label: { weight: 'hint', title: 'Document title', as: 'pdf_input' },
  document_context: { weight: 'hint', title: 'Context of a document', as: 'pdf_input' },
  document_citations: { weight: 'meaning', title: 'Document citations', as: 'pdf_input' },
  audio: { weight: 'meaning', title: 'Audio input', as: 'audio' },
  video: { weight: 'meaning', title: 'Video input', as: 'vision' },
  stored_file: { weight: 'meaning', own: true, title: 'Stored file' },
  thinking_history: { weight: 'hint', title: 'Reasoning of earlier answers', as: 'extended_thinking' },
  reasoning_state: { weight: 'hint', own: true, title: 'Opaque reasoning state', as: 'extended_thinking' },
  carried_state: { weight: 'hint', title: 'State that another engine gets back', as: 'extended_thinking' },
  tool_call: { weight: 'meaning', title: 'Tool call', as: 'tool_use' },
  tool_result: { weight: 'meaning', title: 'Tool result', as: 'tool_use' },
  tool_result_media: { weight: 'meaning', title: 'Media in a tool result', as: 'tool_use' },
  tool_result_error: { weight: 'meaning', title: 'Error flag of a tool result', as: 'tool_use' },
  refusal: { weight: 'meaning', title: 'Refusal', as: 'system_message' },
  vendor_block: { weight: 'meaning', own: true, title: 'Vendor block', as: 'tool_use' },
  tool: { weight: 'meaning', title: 'Tool declaration', as: 'tool_use' },
  tool_strict: { weight: 'meaning', title: 'Strict tool schema', as: 'tool_use', served: true },
  tool_option: { weight: 'hint', own: true, title: 'Tool hint' },
  custom_tool: { weight: 'meaning', title: 'Free-form tool', as: 'tool_use' },
  hosted_limit: { weight: 'meaning', title: 'Limit of a hosted tool', as: 'tool_web_search' },
  hosted_tool: { weight: 'meaning', title: 'Hosted tool', as: 'tool_use' },
  tool_choice: { weight: 'meaning', title: 'Tool choice', as: 'tool_use' },
  parallel_tool_calls: { weight: 'meaning', title: 'Parallel tool calls', as: 'tool_use', served: true },
  max_tokens: { weight: 'meaning', title: 'Token limit', as: 'max_tokens' },
  stop_sequences: { weight: 'meaning', title: 'Stop sequences', as: 'stop_sequences', served: true },
  temperature: { weight: 'meaning', title: 'Temperature', as: 'temperature' },
  top_p: { weight: 'meaning', title: 'Nucleus sampling', as: 'top_p' },
  top_k: { weight: 'meaning', title: 'Top-k sampling', as: 'top_k' },
  seed: { weight: 'meaning', title: 'Seed', as: 'seed_determinism' },
  frequency_penalty: { weight: 'meaning', title: 'Frequency penalty', as: 'frequency_penalty' },
  presence_penalty: { weight: 'meaning', title: 'Presence penalty', as: 'presence_penalty' },
  logit_bias: { weight: 'meaning', title: 'Logit bias' },
  count: { weight: 'meaning', title: 'Several answers' },
  logprobs: { weight: 'meaning', title: 'Logprobs', as: 'logprobs' },
  json_mode: { weight: 'meaning', title: 'JSON mode', as: 'json_mode' },
  schema_name: { weight: 'nothing', title: 'Name of an output schema' },
  schema_strict: { weight: 'nothing', title: 'Strictness of an output schema' },
  property_order: { weight: 'hint', title: 'Order of properties', as: 'structured_output_json_schema' },
  json_schema: { weight: 'meaning', title: 'Structured output', as: 'structured_output_json_schema' },
  thinking: { weight: 'meaning', title: 'Extended thinking', as: 'extended_thinking' },
  thinking_budget: { weight: 'hint', title: 'Thinking budget', as: 'extended_thinking' },
  thinking_display: { weight: 'hint', title: 'Display of thinking', as: 'extended_thinking' },
  effort: { weight: 'meaning', title: 'Reasoning effort', as: 'extended_thinking' },
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
  end_user: { weight: 'hint', title: 'End user id', as: 'end_user' },
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
