import type { Dialect } from '../dialect.ts';

/**
 * What generateContent calls each concept that it shares with other dialects. Several candidates and logprobs have a form here but
 * none in a mapped answer, so they are not among them.
 */
export const names: Dialect['names'] = {
  model: 'model',
  stream: 'streamGenerateContent',
  structure: 'contents',
  system: 'systemInstruction',
  text: 'text',
  image: 'inlineData',
  document: 'inlineData',
  audio: 'inlineData',
  video: 'inlineData',
  thinking_history: 'thought',
  tool_call: 'functionCall',
  tool_result: 'functionResponse',
  tool_result_media: 'functionResponse.parts',
  tool_result_error: 'functionResponse.response.error',
  refusal: 'text',
  tool: 'functionDeclarations',
  tool_strict: 'functionCallingConfig.mode VALIDATED',
  hosted_tool: 'tools',
  tool_choice: 'functionCallingConfig',
  max_tokens: 'maxOutputTokens',
  stop_sequences: 'stopSequences',
  temperature: 'temperature',
  top_p: 'topP',
  top_k: 'topK',
  seed: 'seed',
  frequency_penalty: 'frequencyPenalty',
  presence_penalty: 'presencePenalty',
  json_mode: 'responseMimeType',
  json_schema: 'responseJsonSchema',
  thinking: 'thinkingConfig',
  effort: 'thinkingConfig.thinkingLevel',
  service_tier: 'serviceTier',
};
