import type { CapabilityManifest } from '../../contract/support.ts';

/** Capabilities that the simulated model really has. */
export const manifest: CapabilityManifest = {
  streaming: 'native',
  tool_use: 'native',
  function_calling: 'native',
  extended_thinking: 'native',
  structured_output_json_schema: 'native',
  json_mode: 'native',
  stop_sequences: 'native',
  max_tokens: 'native',
  system_message: 'native',
  seed_determinism: 'native', // the same request always gives the same answer
  vision: { restricted: { reason: 'images are accepted and counted, not understood' } },
  image_input: { restricted: { reason: 'images are accepted and counted, not understood' } },
  pdf_input: { restricted: { reason: 'documents are accepted and counted, not understood' } },
  temperature: { restricted: { reason: 'accepted; the answer is deterministic' } },
  top_p: { restricted: { reason: 'accepted; the answer is deterministic' } },
  top_k: { restricted: { reason: 'accepted; the answer is deterministic' } },
};

/**
 * What a caller of another dialect finds on `sim:<dialect>`: JSON and thinking as the engine of that dialect's vendor has them, so that
 * every cell of the table can be tried without a key.
 */
export const speaking: Readonly<Record<string, CapabilityManifest>> = {
  claude: { json_mode: 'emulated', structured_output_json_schema: 'emulated', extended_thinking: 'native' },
  'openai-chat': { json_mode: 'native', structured_output_json_schema: 'native', extended_thinking: 'unsupported' },
  'openai-responses': { json_mode: 'native', structured_output_json_schema: 'native', extended_thinking: 'unsupported' },
  gemini: { json_mode: 'native', structured_output_json_schema: 'native', extended_thinking: 'unsupported' },
  kimi: { json_mode: 'native', structured_output_json_schema: 'emulated', extended_thinking: 'unsupported' },
  copilot: { json_mode: 'emulated', structured_output_json_schema: 'emulated', extended_thinking: 'unsupported' },
};
