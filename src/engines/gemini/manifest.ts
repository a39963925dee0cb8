import type { CapabilityManifest } from '../../contract/support.ts';

const RAW_PATH = { restricted: { reason: 'only in the vendor’s own form, on the raw path' } };

/** The most that a mapped caller gets from Gemini's generateContent; a model row may lower a level. */
export const manifest: CapabilityManifest = {
  streaming: 'native',
  tool_use: 'native', // functionDeclarations
  function_calling: 'native',
  vision: 'native',
  image_input: 'native',
  pdf_input: 'native', // inlineData application/pdf
  tool_web_search: 'native', // googleSearch
  tool_web_fetch: 'native', // urlContext
  code_execution: 'native', // codeExecution
  extended_thinking: 'unsupported', // thinkingConfig stands in only on opt-in, labelled
  json_mode: 'native', // responseMimeType application/json
  structured_output_json_schema: 'native', // responseJsonSchema
  system_message: 'native', // systemInstruction
  max_tokens: 'native',
  stop_sequences: 'native', // at most 5
  temperature: 'native',
  top_p: 'native',
  top_k: 'native',
  logprobs: 'native', // responseLogprobs
  seed_determinism: 'native', // generationConfig.seed
  frequency_penalty: 'native',
  presence_penalty: 'native',
  cache_control: 'unsupported', // cachedContent is a stored object, not a mark in the prompt
  audio: 'native', // inlineData audio
  batch_mode: RAW_PATH, // :batchGenerateContent
  embeddings: RAW_PATH, // :embedContent
  image_generation: RAW_PATH, // responseModalities IMAGE
};
