import type { CapabilityManifest } from '../../contract/support.ts';

const RAW_PATH = { restricted: { reason: 'only in the vendor’s own form, on the raw path' } };

/** The most that a mapped caller gets from OpenAI's Chat Completions and Responses APIs; a model row may lower a level. */
export const manifest: CapabilityManifest = {
  streaming: 'native',
  tool_use: 'native',
  function_calling: 'native',
  vision: 'native',
  image_input: 'native',
  pdf_input: 'native', // file part with file_data
  tool_web_search: 'emulated', // web_search tool or web_search_options, in another form than the caller's
  tool_web_fetch: 'unsupported', // no hosted tool takes a URL
  code_execution: 'unsupported', // code_interpreter serves Responses callers only; others are refused (E001)
  extended_thinking: 'unsupported', // reasoning_effort is another thing; it stands in only on opt-in, labelled
  json_mode: 'native', // response_format json_object
  structured_output_json_schema: 'native', // response_format json_schema
  system_message: 'native',
  max_tokens: 'native',
  stop_sequences: 'native', // Chat only, at most 4; reasoning models refuse them
  temperature: 'native',
  top_p: 'native',
  top_k: 'unsupported', // no such field
  logprobs: 'native',
  seed_determinism: 'native', // Chat only, best effort and deprecated by the vendor
  frequency_penalty: 'native', // Chat only
  presence_penalty: 'native', // Chat only
  cache_control: 'unsupported', // prefixes are cached without marks; explicit breakpoints exist for the newest models only
  audio: 'native', // Chat input_audio, wav and mp3
  batch_mode: RAW_PATH, // /v1/batches
  embeddings: 'native', // /v1/embeddings, passthrough
  image_generation: RAW_PATH, // Responses tool image_generation, /v1/images
};
