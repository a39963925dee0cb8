import type { AgentTrafficRow } from '../../adapter.ts';

/**
 * Rows for wires that several coding agents speak. Each says the worst fate: what a single model of a
 * dialect lacks counts for the dialect.
 */

const WIRE_HINT = 'a hint for prices that does not change the answer';
const SEALED = 'only the engine that wrote it can read it';
const RETOLD = 'engines take back the reasoning that they wrote themselves; the answers and calls it led to are sent';
const UNSIGNED = 'a call that another engine made has no signature of Gemini, which is told not to look for one';

/** The effort that an agent sets by itself goes to the nearest level or budget; a model that does not reason goes without. */
const EFFORT: Pick<AgentTrafficRow, 'fate' | 'on' | 'reason' | 'wish'> = {
  fate: 'dropped',
  on: { claude: 'emulated', gemini: 'emulated', kimi: 'emulated', copilot: 'renamed' },
  reason: 'engines with levels or budgets take the nearest one, and a model that does not reason answers without',
  wish: ['thinkingEffort', 'thinkingBudgetTokens', 'thinkingOverride'],
};

/** The row of an effort setting. */
export function effortRow(feature: string, path: string): AgentTrafficRow {
  return { feature, path, ...EFFORT };
}

/** The row of a sampling setting that the agent sends by habit. Models with fixed sampling have none of them. */
export function samplingRow(path: string, setting: 'temperature' | 'topP' | 'topK'): AgentTrafficRow {
  const on = { gemini: 'renamed', ...(setting !== 'topK' && { copilot: 'renamed' as const }) } as const;
  const reason = 'a habit of the agent; a model whose sampling is fixed does without';
  return { feature: SAMPLING[setting], path, fate: 'dropped', on, reason, wish: [setting] };
}

const SAMPLING = { temperature: 'temperature', topP: 'nucleus sampling', topK: 'top k' } as const;

/** Anthropic's Messages. */
export const MESSAGES_ROWS: readonly AgentTrafficRow[] = [
  {
    feature: 'thinking',
    path: 'thinking',
    fate: 'emulated',
    reason: 'the engine’s own thinking parameter is used where the model has one, with the nearest level, else a prompt',
  },
  {
    feature: 'tokens of thinking',
    path: 'thinking.budget_tokens',
    fate: 'dropped',
    on: { gemini: 'emulated', copilot: 'emulated' },
    reason: 'they become the nearest level; a model without levels decides by itself',
  },
  {
    feature: 'display of thinking',
    path: 'thinking.display',
    fate: 'dropped',
    on: { gemini: 'emulated' },
    reason: 'engines decide by themselves how much of their thinking they show',
  },
  {
    feature: 'feature switches',
    path: 'header anthropic-beta',
    fate: 'dropped',
    reason: 'what they switch on stands in the request and is judged there',
  },
  { feature: 'cache marks of the system prompt', path: 'system[*].cache_control', fate: 'dropped', reason: WIRE_HINT },
  {
    feature: 'cache marks of messages',
    path: 'messages[*].content[*].cache_control',
    fate: 'dropped',
    on: { claude: 'renamed' },
    reason: WIRE_HINT,
  },
  { feature: 'cache marks of tools', path: 'tools[*].cache_control', fate: 'dropped', reason: WIRE_HINT },
  {
    feature: 'thinking of earlier answers',
    path: 'messages[*].content[*].thinking',
    fate: 'dropped',
    on: { kimi: 'renamed' },
    reason: RETOLD,
  },
  { feature: 'signatures of thinking', path: 'messages[*].content[*].signature', fate: 'dropped', reason: SEALED },
  {
    feature: 'calls of earlier answers',
    path: 'messages[*].content[*]',
    fate: 'renamed',
    on: { gemini: 'emulated' },
    reason: UNSIGNED,
  },
];

/** OpenAI's Responses. */
export const RESPONSES_ROWS: readonly AgentTrafficRow[] = [
  effortRow('effort of reasoning', 'reasoning.effort'),
  {
    feature: 'summary of reasoning',
    path: 'reasoning.summary',
    fate: 'dropped',
    reason: 'an engine that tells its thoughts tells them anyway',
  },
  { feature: 'encrypted reasoning', path: 'include', fate: 'dropped', reason: 'other engines have none to include' },
  { feature: 'reasoning of earlier answers', path: 'input[*].summary', fate: 'dropped', on: { kimi: 'renamed' }, reason: RETOLD },
  { feature: 'sealed reasoning of earlier answers', path: 'input[*].encrypted_content', fate: 'dropped', reason: SEALED },
  { feature: 'function calls of earlier answers', path: 'input[*]', fate: 'renamed', on: { gemini: 'emulated' }, reason: UNSIGNED },
  { feature: 'developer messages', path: 'input[*].content', fate: 'renamed', reason: 'they are the system prompt of the other dialects' },
  { feature: 'stored responses off', path: 'store', fate: 'exact', reason: 'other engines store nothing, which is what it asks for' },
  { feature: 'cache key', path: 'prompt_cache_key', fate: 'dropped', reason: WIRE_HINT },
];

/** OpenAI's Chat Completions. */
export const CHAT_ROWS: readonly AgentTrafficRow[] = [
  effortRow('reasoning effort', 'reasoning_effort'),
  { feature: 'usage in the stream', path: 'stream_options', fate: 'renamed', reason: 'every engine tells its usage' },
  {
    feature: 'tool calls of earlier answers',
    path: 'messages[*].tool_calls',
    fate: 'renamed',
    on: { gemini: 'emulated' },
    reason: UNSIGNED,
  },
  {
    feature: 'answers with calls and without reasoning',
    path: 'messages[*]',
    fate: 'renamed',
    on: { kimi: 'emulated' },
    reason: 'Kimi wants reasoning before a call; a stand-in is put there',
  },
];
