import type { CapabilityManifest } from '../../contract/support.ts';

const RAW_PATH = { restricted: { reason: 'only in the vendor’s own form, on the raw path' } };

/** The most that a mapped caller gets from Anthropic's Messages API; a model row may lower a level. */
export const manifest: CapabilityManifest = {
  streaming: 'native',
  tool_use: 'native',
  function_calling: 'native', // a function is a tool with an input_schema
  vision: 'native',
  image_input: 'native',
  pdf_input: 'native', // document block
  tool_web_search: 'emulated', // server tool web_search_*, in another form than the caller's
  tool_web_fetch: 'emulated', // server tool web_fetch_*
  code_execution: 'unsupported', // code_execution_* serves Claude callers only; others are refused (E001)
  extended_thinking: 'native',
  json_mode: 'emulated', // forced tool use
  structured_output_json_schema: 'emulated', // forced tool use
  system_message: 'native',
  max_tokens: 'native', // required by the API; a default is filled in
  stop_sequences: 'native',
  temperature: 'native', // 0 to 1; models after Opus 4.6 take only 1, and version 2026-10-21 has no such field
  top_p: 'native', // as temperature
  top_k: 'native', // as temperature
  logprobs: 'unsupported', // no such field
  seed_determinism: 'unsupported', // no such field
  frequency_penalty: 'unsupported', // no such field
  presence_penalty: 'unsupported', // no such field
  cache_control: 'native',
  audio: 'unsupported', // no audio block
  batch_mode: RAW_PATH, // /v1/messages/batches
  embeddings: 'unsupported', // the vendor has no such API
  image_generation: 'unsupported', // the vendor has no such API
};
