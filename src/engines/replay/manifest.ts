import type { CapabilityManifest } from '../../contract/support.ts';

/** Whatever an engine could do when it was recorded comes back as it was; what was not recorded is a miss, not a missing capability. */
export const manifest: CapabilityManifest = {
  streaming: 'native',
  tool_use: 'native',
  function_calling: 'native',
  vision: 'native',
  image_input: 'native',
  pdf_input: 'native',
  audio: 'native',
  tool_web_search: 'native',
  tool_web_fetch: 'native',
  code_execution: 'native',
  extended_thinking: 'native',
  json_mode: 'native',
  structured_output_json_schema: 'native',
  system_message: 'native',
  max_tokens: 'native',
  stop_sequences: 'native',
  temperature: 'native',
  top_p: 'native',
  top_k: 'native',
  frequency_penalty: 'native',
  presence_penalty: 'native',
  logprobs: 'native',
  seed_determinism: 'native', // the same request always gets the same answer
  cache_control: 'native',
  embeddings: 'native',
};
