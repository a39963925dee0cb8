import type { Traffic } from '../adapter.ts';

/** What Gemini CLI puts into its requests beside plain messages and tools, and what other engines make of it. */
export const traffic: Traffic = {
  dialect: 'gemini',
  dialects: ['gemini'],
  emulate: ['extended_thinking', 'structured_output_json_schema'],
  rows: [
    {
      feature: 'thinking with a budget or a level',
      path: 'generationConfig.thinkingConfig',
      fate: 'emulated',
      reason: 'the engine’s own thinking parameter is used, with the nearest level',
    },
    {
      feature: 'thoughts',
      path: 'generationConfig.thinkingConfig.includeThoughts',
      fate: 'renamed',
      reason: 'engines that tell their thoughts tell them as thoughts',
    },
    {
      feature: 'top k',
      path: 'generationConfig.topK',
      fate: 'dropped',
      reason: 'taken out in the agent’s settings on other engines, unless the run sets it',
    },
    {
      feature: 'choice of a model by a model',
      path: 'generationConfig.responseJsonSchema',
      fate: 'emulated',
      reason: 'a small call before the first one, made when no model is named; its answer follows a schema',
    },
    {
      feature: 'signatures of thoughts',
      path: 'contents[*].parts[*].thoughtSignature',
      fate: 'dropped',
      reason: 'only the engine that signed it can read it',
    },
    {
      feature: 'search and page reading of the vendor',
      path: 'tools[*].googleSearch',
      fate: 'emulated',
      reason: 'the engine’s own search is used; an engine without one refuses that single call, and the agent goes on',
    },
  ],
};
