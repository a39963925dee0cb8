import type { CapabilityManifest } from '../../contract/support.ts';

/** The most that GitHub Copilot's model API offers; which models a user has depends on the plan. */
export const manifest: CapabilityManifest = {
  streaming: 'native',
  tool_use: 'native',
  function_calling: 'native',
  vision: 'native', // with the header Copilot-Vision-Request
  image_input: 'native',
  tool_web_search: 'unsupported',
  code_execution: 'unsupported',
  extended_thinking: 'unsupported', // reasoning_text of some models, in another form than Claude's; opt in by name
  json_mode: 'emulated', // forced tool use
  structured_output_json_schema: 'emulated', // forced tool use
  system_message: 'native',
  max_tokens: 'native',
  stop_sequences: 'native',
  temperature: 'native',
  top_p: 'native',
  top_k: 'unsupported', // no such field
  logprobs: 'unsupported',
  seed_determinism: 'unsupported',
  frequency_penalty: 'unsupported',
  presence_penalty: 'unsupported',
  cache_control: 'unsupported',
  pdf_input: 'unsupported',
  audio: 'unsupported',
};
