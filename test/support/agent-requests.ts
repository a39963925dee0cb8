import type { JsonObject } from '../../src/base/json.ts';

/** Requests of coding agents, cut down to one of each thing that they hold. The words in them are ours. */

const SCHEMA = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] };
const MARK = { type: 'ephemeral' };

const claudeCode: JsonObject = {
  model: 'claude-opus-5-5',
  max_tokens: 32_000,
  stream: true,
  system: [{ type: 'text', text: 'You are an agent.', cache_control: MARK }],
  messages: [
    { role: 'user', content: [{ type: 'text', text: 'Write a.txt.', cache_control: MARK }] },
    { role: 'system', content: [{ type: 'text', text: 'The file b.txt was changed.' }] },
    { role: 'system', content: 'The file c.txt was changed.' },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'A file.', signature: 'c2lnbmVk' },
        { type: 'tool_use', id: 'toolu_01', name: 'Write', input: { path: 'a.txt' } },
      ],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_01', content: 'done' }], output_config: { effort: 'low' } },
  ],
  tools: [{ name: 'Write', description: 'Writes.', input_schema: SCHEMA, eager_input_streaming: true, cache_control: MARK }],
  thinking: { type: 'adaptive', display: 'omitted' },
  output_config: { effort: 'high' },
  context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
  metadata: { user_id: `user_${'0'.repeat(64)}_account__session_1` },
};

const codex: JsonObject = {
  model: 'gpt-5.2',
  instructions: 'You are an agent.',
  input: [
    { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Rules.' }] },
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'List the files.' }] },
    { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Files.' }], encrypted_content: 'c2VhbGVk' },
    { type: 'function_call', name: 'exec_command', arguments: '{"path":"."}', call_id: 'call_1' },
    { type: 'function_call_output', call_id: 'call_1', output: 'a.txt' },
  ],
  tools: [
    { type: 'function', name: 'exec_command', description: 'Runs.', strict: false, parameters: SCHEMA },
    {
      type: 'namespace',
      name: 'mcp__files',
      description: 'Files.',
      tools: [{ type: 'function', name: 'read', description: 'Reads.', strict: false, parameters: SCHEMA }],
    },
    { type: 'custom', name: 'apply_patch', description: 'Patches.', format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' } },
  ],
  tool_choice: 'auto',
  parallel_tool_calls: true,
  reasoning: { effort: 'high', summary: 'auto' },
  store: false,
  stream: true,
  include: ['reasoning.encrypted_content'],
  prompt_cache_key: 'session-1',
  text: { verbosity: 'low' },
  client_metadata: { session_id: 'session-1' },
};

const gemini: JsonObject = {
  systemInstruction: { role: 'user', parts: [{ text: 'You are an agent.' }] },
  contents: [
    { role: 'user', parts: [{ text: 'Write a.txt.' }] },
    {
      role: 'model',
      parts: [
        { text: 'A file.', thought: true },
        { functionCall: { name: 'write_file', args: { path: 'a.txt' } }, thoughtSignature: 'c2lnbmVk' },
      ],
    },
    { role: 'user', parts: [{ functionResponse: { name: 'write_file', response: { output: 'done' } } }] },
  ],
  tools: [{ functionDeclarations: [{ name: 'write_file', description: 'Writes.', parametersJsonSchema: SCHEMA }] }],
  generationConfig: { temperature: 1, topP: 0.95, thinkingConfig: { includeThoughts: true, thinkingBudget: 8192 } },
};

/** The small call before the first one, in which a model chooses the model. */
const geminiRouter: JsonObject = {
  contents: [{ role: 'user', parts: [{ text: 'Which model?' }] }],
  generationConfig: {
    temperature: 0,
    topP: 1,
    topK: 64,
    responseMimeType: 'application/json',
    responseJsonSchema: SCHEMA,
  },
};

const copilotChat: JsonObject = {
  model: 'gpt-4.1',
  messages: [
    { role: 'system', content: 'You are an agent.' },
    { role: 'user', content: 'Write a.txt.' },
    {
      role: 'assistant',
      content: '',
      tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'create', arguments: '{"path":"a.txt"}' } }],
    },
    { role: 'tool', tool_call_id: 'call_1', content: 'done' },
  ],
  tools: [{ type: 'function', function: { name: 'create', description: 'Creates.', parameters: SCHEMA } }],
  temperature: 0,
  top_p: 0.95,
  frequency_penalty: 0,
  presence_penalty: 0,
  reasoning_effort: 'high',
  stream: true,
  stream_options: { include_usage: true },
};

/** The vendor's search is a call of its own. */
const claudeSearch: JsonObject = {
  model: 'claude-opus-5-5',
  max_tokens: 4096,
  messages: [{ role: 'user', content: 'Search for it.' }],
  tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 8 }],
};

const geminiSearch: JsonObject = {
  contents: [{ role: 'user', parts: [{ text: 'Search for it.' }] }],
  tools: [{ googleSearch: {} }],
};

/** What agents with several wires send on each of them. */
const WIRES: Readonly<Record<string, JsonObject>> = {
  'openai-chat': {
    model: 'm',
    messages: [
      { role: 'developer', content: [{ type: 'text', text: 'You are an agent.', cache_control: MARK }] },
      { role: 'user', content: 'hi' },
      { role: 'user', content: 'You are in a folder.' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'read', arguments: '{"path":"a.txt"}' } }],
      },
      { role: 'tool', tool_call_id: 'call_1', content: 'done' },
    ],
    tools: [{ type: 'function', function: { name: 'read', description: 'Reads.', parameters: SCHEMA, strict: false } }],
    max_completion_tokens: 8192,
    reasoning_effort: 'low',
    prompt_cache_key: 'session-1',
    store: false,
    stream: true,
    stream_options: { include_usage: true },
  },
  'openai-responses': {
    model: 'gpt-5.2',
    input: [
      { role: 'developer', content: 'You are an agent.' },
      { role: 'user', content: [{ type: 'input_text', text: 'hi' }] },
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'A file.' }], encrypted_content: 'c2VhbGVk' },
      { type: 'function_call', name: 'read', arguments: '{"path":"a.txt"}', call_id: 'call_1' },
      { type: 'function_call_output', call_id: 'call_1', output: 'done' },
    ],
    tools: [{ type: 'function', name: 'read', description: 'Reads.', parameters: SCHEMA }],
    reasoning: { effort: 'low', summary: 'auto' },
    include: ['reasoning.encrypted_content'],
    prompt_cache_key: 'session-1',
    store: false,
    stream: true,
  },
  claude: {
    model: 'claude-sonnet-4-5',
    max_tokens: 16_000,
    stream: true,
    system: [{ type: 'text', text: 'You are an agent.', cache_control: MARK }],
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'hi', cache_control: MARK }] },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'A file.', signature: 'c2lnbmVk' },
          { type: 'tool_use', id: 'toolu_01', name: 'read', input: { path: 'a.txt' } },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_01', content: 'done' }] },
    ],
    tools: [{ name: 'read', description: 'Reads.', input_schema: SCHEMA, cache_control: MARK }],
    thinking: { type: 'enabled', budget_tokens: 4096 },
  },
};

/** Hermes names the tool beside its result. */
const hermesChat: JsonObject = {
  ...WIRES['openai-chat'],
  messages: [
    { role: 'user', content: 'hi' },
    {
      role: 'assistant',
      content: '',
      tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'read', arguments: '{"path":"a.txt"}' } }],
    },
    { role: 'tool', tool_call_id: 'call_1', name: 'read', content: 'done' },
  ],
};

/** What only one agent sends, by agent and dialect. */
const OWN: Readonly<Record<string, readonly JsonObject[]>> = {
  'claude claude': [claudeCode],
  'codex openai-responses': [codex],
  'gemini gemini': [gemini, geminiRouter],
  'copilot openai-chat': [copilotChat],
  'hermes openai-chat': [WIRES['openai-chat'] ?? {}, hermesChat],
  'omp claude': [{ ...WIRES.claude, context_management: { edits: [] }, metadata: { user_id: 'user_1' } }],
};

/** Calls that only an engine with a search of its own can serve. */
export const SEARCHES: Readonly<Record<string, JsonObject>> = { claude: claudeSearch, gemini: geminiSearch };

/** Requests of one agent in one of its dialects. */
export function requestsOf(agent: string, dialect: string): readonly JsonObject[] {
  const shared = WIRES[dialect];
  return OWN[`${agent} ${dialect}`] ?? (shared === undefined ? [] : [shared]);
}
