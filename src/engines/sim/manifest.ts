import type { CapabilityManifest } from '../../contract/support.ts';

/** What the simulated model really does. */
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
