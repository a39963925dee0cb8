import type { Traffic } from '../adapter.ts';
import { samplingRow } from '../families/traffic/wires.ts';

const SCHEMA = 'a small call before the first one, made when no model is named; its answer follows a schema';
const RETOLD = 'engines take back the thoughts that they wrote themselves; the answers and calls they led to are sent';

/** Gemini CLI sends more than plain messages and tools; these rows say which members, and how other engines are served with them. */
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
    samplingRow('generationConfig.temperature', 'temperature'),
    samplingRow('generationConfig.topP', 'topP'),
    samplingRow('generationConfig.topK', 'topK'),
    {
      feature: 'choice of a model by a model',
      path: 'generationConfig.responseJsonSchema',
      fate: 'emulated',
      reason: SCHEMA,
    },
    {
      feature: 'JSON as the answer',
      path: 'generationConfig.responseMimeType',
      fate: 'emulated',
      reason: SCHEMA,
    },
    {
      feature: 'signatures of thoughts',
      path: 'contents[*].parts[*].thoughtSignature',
      fate: 'dropped',
      reason: 'only the engine that signed it can read it',
    },
    { feature: 'thoughts of earlier answers', path: 'contents[*].parts[*].text', fate: 'dropped', on: { kimi: 'renamed' }, reason: RETOLD },
    {
      feature: 'search of the vendor',
      path: 'tools[*].googleSearch',
      fate: 'emulated',
      reason: 'the engine’s own search is used; an engine without one refuses that single call, and the agent goes on',
    },
  ],
};
