import type { CapabilityManifest } from '../../contract/support.ts';

/** The most that Moonshot's API offers; a model row may lower a level. */
export const manifest: CapabilityManifest = {
  streaming: 'native',
  tool_use: 'native',
  function_calling: 'native',
  vision: 'native', // k2.5 and later
  image_input: 'native',
  tool_web_search: 'emulated', // builtin_function $web_search
  code_execution: 'unsupported',
  extended_thinking: 'unsupported', // reasoning_content, in another form than Claude's; opt in by name
  json_mode: 'native',
  structured_output_json_schema: 'emulated', // forced tool use
  system_message: 'native',
  max_tokens: 'native',
  stop_sequences: 'native',
  temperature: 'native',
  top_p: 'native',
  top_k: 'unsupported', // no such field
  frequency_penalty: 'native',
  presence_penalty: 'native',
  logprobs: 'unsupported', // no such field
  seed_determinism: 'unsupported', // no such field
  cache_control: 'unsupported', // caching is implicit
  pdf_input: 'unsupported', // files are uploaded apart
  audio: 'unsupported',
};
