import type { Traffic } from '../adapter.ts';

/** What Codex puts into its requests beside plain messages and tools, and what other engines make of it. */
export const traffic: Traffic = {
  dialect: 'openai-responses',
  dialects: ['openai-responses'],
  emulate: ['extended_thinking', 'structured_output_json_schema'],
  rows: [
    { feature: 'developer messages', path: 'input[*].role', fate: 'renamed', reason: 'they are the system prompt of the other dialects' },
    {
      feature: 'tools in namespaces',
      path: 'tools[*].tools',
      fate: 'renamed',
      reason: 'each tool stands by itself, under a name that holds the namespace',
    },
    {
      feature: 'tools with free text as input',
      path: 'tools[*].format',
      fate: 'emulated',
      reason: 'a function with one text; its grammar becomes a description',
    },
    {
      feature: 'reasoning effort',
      path: 'reasoning.effort',
      fate: 'renamed',
      reason: 'engines with levels or budgets take the nearest one',
    },
    {
      feature: 'reasoning summary',
      path: 'reasoning.summary',
      fate: 'dropped',
      reason: 'an engine that tells its thoughts tells them anyway',
    },
    { feature: 'encrypted reasoning', path: 'include', fate: 'dropped', reason: 'other engines have none to include' },
    {
      feature: 'reasoning of earlier answers',
      path: 'input[*].encrypted_content',
      fate: 'dropped',
      reason: 'only the engine that wrote it can read it',
    },
    { feature: 'stored responses off', path: 'store', fate: 'dropped', reason: 'other engines store nothing, which is what it asks for' },
    { feature: 'cache key', path: 'prompt_cache_key', fate: 'dropped', reason: 'a hint for prices that does not change the answer' },
    { feature: 'verbosity', path: 'text.verbosity', fate: 'dropped', reason: 'only OpenAI has the setting' },
    { feature: 'metadata of the client', path: 'client_metadata', fate: 'dropped', reason: 'bookkeeping of the vendor' },
    {
      feature: 'several calls at once',
      path: 'parallel_tool_calls',
      fate: 'renamed',
      reason: 'engines have their own setting, or do it anyway',
    },
    {
      feature: 'web search of the vendor',
      path: 'tools[*].type',
      fate: 'dropped',
      reason: 'switched off in the agent’s settings on engines other than OpenAI',
    },
  ],
};
