import type { JsonObject } from '../../src/base/json.ts';

/** Members of a request that may stand in each other's way: one wins over another, or means nothing without it. */
export type Settings = readonly JsonObject[];

export const SCHEMA: JsonObject = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false };
export const OTHER: JsonObject = { type: 'object', properties: { b: { type: 'number' } }, required: ['b'], additionalProperties: false };
const LOOK: JsonObject = { name: 'look', description: 'Looks.', parameters: SCHEMA };

export const CHAT: Settings = [
  { stream: true },
  { stream: false },
  { stream_options: { include_usage: true } },
  { stream_options: { include_usage: false, include_obfuscation: false } },
  { max_tokens: 700 },
  { max_completion_tokens: 800 },
  { tools: [{ type: 'function', function: LOOK }] },
  {
    tools: [
      { type: 'function', function: { ...LOOK, strict: true } },
      { type: 'custom', custom: { name: 'run' } },
    ],
  },
  { functions: [{ name: 'find', parameters: OTHER }] },
  { function_call: { name: 'find' } },
  { function_call: 'none' },
  { tool_choice: 'none' },
  { tool_choice: 'required' },
  { tool_choice: { type: 'function', function: { name: 'look' } } },
  { tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'look' } }] } } },
  {
    tool_choice: {
      type: 'allowed_tools',
      allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'find' } }] },
    },
  },
  { parallel_tool_calls: false },
  { parallel_tool_calls: true },
  { logprobs: true },
  { logprobs: false },
  { top_logprobs: 3 },
  { response_format: { type: 'json_object' } },
  { response_format: { type: 'text' } },
  { response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: SCHEMA, strict: true } } },
  { reasoning_effort: 'high' },
  { reasoning_effort: 'none' },
  { verbosity: 'low' },
  { modalities: ['text'] },
  { modalities: ['text', 'audio'] },
  { audio: { voice: 'alloy', format: 'wav' } },
  { prediction: { type: 'content', content: 'words' } },
  { web_search_options: { search_context_size: 'low', user_location: { type: 'approximate', approximate: { city: 'Rome' } } } },
  { stop: ['end'] },
  { stop: 'halt' },
  { n: 2 },
  { seed: 7 },
  { temperature: 0.3 },
  { top_p: 0.4 },
  { user: 'u1' },
  { safety_identifier: 's1' },
  { prompt_cache_key: 'p1' },
  { store: true },
  { metadata: { a: 'b' } },
  { service_tier: 'flex' },
];

/** Members that Kimi does not have. */
const NOT_KIMI: ReadonlySet<string> = new Set(['functions', 'function_call', 'web_search_options', 'audio', 'parallel_tool_calls']);

export const KIMI: Settings = [
  ...CHAT.filter((one) => !Object.keys(one).some((name) => NOT_KIMI.has(name))),
  { thinking: { type: 'enabled' } },
  { thinking: { type: 'disabled' } },
  { tools: [{ type: 'builtin_function', function: { name: '$web_search' } }] },
  {
    tool_choice: {
      type: 'allowed_tools',
      allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: '$web_search' } }] },
    },
  },
];

export const RESPONSES: Settings = [
  { stream: true },
  { stream_options: { include_obfuscation: false } },
  { instructions: 'Be brief.' },
  {
    input: [
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: 'hi' },
    ],
  },
  { input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hi' }] }] },
  { max_output_tokens: 700 },
  { tools: [{ type: 'function', ...LOOK, strict: true }] },
  { tools: [{ type: 'custom', name: 'run', format: { type: 'text' } }] },
  { tools: [{ type: 'web_search', search_context_size: 'low', filters: { allowed_domains: ['a.example'] } }] },
  { tools: [{ type: 'function', ...LOOK }, { type: 'web_search' }] },
  { tool_choice: 'none' },
  { tool_choice: 'required' },
  { tool_choice: { type: 'function', name: 'look' } },
  { tool_choice: { type: 'web_search' } },
  { tool_choice: { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'look' }] } },
  { parallel_tool_calls: false },
  { max_tool_calls: 3 },
  { top_logprobs: 3 },
  { include: ['message.output_text.logprobs'] },
  { include: ['reasoning.encrypted_content'] },
  { include: ['web_search_call.action.sources'] },
  { text: { format: { type: 'json_object' } } },
  { text: { format: { type: 'text' } } },
  { text: { format: { type: 'json_schema', name: 'answer', schema: SCHEMA, strict: true } } },
  { text: { verbosity: 'low' } },
  { reasoning: { effort: 'high' } },
  { reasoning: { effort: 'none' } },
  { reasoning: { summary: 'auto' } },
  { reasoning: { generate_summary: 'concise' } },
  { temperature: 0.3 },
  { top_p: 0.4 },
  { user: 'u1' },
  { safety_identifier: 's1' },
  { prompt_cache_key: 'p1' },
  { store: false },
  { previous_response_id: 'resp_1' },
  { conversation: 'conv_1' },
  { truncation: 'auto' },
  { background: true },
  { metadata: { a: 'b' } },
  { service_tier: 'flex' },
];
