import type { Traffic } from '../adapter.ts';
import { RESPONSES_ROWS } from '../families/traffic/wires.ts';

/**
 * Codex sends more than plain messages and tools; these rows say which members, and how other engines are served with them. The vendor's
 * web search is switched off in its settings on engines other than OpenAI.
 */
export const traffic: Traffic = {
  dialect: 'openai-responses',
  dialects: ['openai-responses'],
  emulate: ['extended_thinking', 'structured_output_json_schema'],
  rows: [
    ...RESPONSES_ROWS,
    {
      feature: 'tools in namespaces',
      path: 'tools[*].tools',
      fate: 'emulated',
      reason: 'each tool stands by itself, under a name that holds the namespace; calls get their own name back',
    },
    {
      feature: 'description of a namespace',
      path: 'tools[*].description',
      fate: 'dropped',
      reason: 'each tool of the namespace keeps its own',
    },
    {
      feature: 'tools with free text as input',
      path: 'tools[*]',
      fate: 'emulated',
      on: { 'openai-chat': 'renamed' },
      reason: 'a function with one text; its grammar becomes a description',
    },
    {
      feature: 'verbosity',
      path: 'text.verbosity',
      fate: 'dropped',
      on: { 'openai-chat': 'renamed' },
      reason: 'only OpenAI has the setting',
    },
    { feature: 'metadata of the client', path: 'client_metadata', fate: 'dropped', reason: 'bookkeeping of the vendor' },
    { feature: 'several calls at once', path: 'parallel_tool_calls', fate: 'exact', reason: 'engines do it anyway' },
  ],
};
