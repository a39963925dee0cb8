import type { Traffic } from '../adapter.ts';

/** What Claude Code puts into its requests beside plain messages and tools, and what other engines make of it. */
export const traffic: Traffic = {
  dialect: 'claude',
  dialects: ['claude'],
  emulate: ['extended_thinking', 'structured_output_json_schema'],
  rows: [
    {
      feature: 'system message inside the list',
      path: 'messages[*].role',
      fate: 'emulated',
      reason: 'kept in its place where the engine takes one, else as labelled text',
    },
    {
      feature: 'adaptive thinking',
      path: 'thinking',
      fate: 'emulated',
      reason: 'the engine’s own thinking parameter is used where the model has one, else a prompt',
    },
    { feature: 'effort', path: 'output_config.effort', fate: 'renamed', reason: 'engines with levels take the nearest one' },
    {
      feature: 'effort of one turn',
      path: 'messages[*].output_config.effort',
      fate: 'dropped',
      reason: 'other engines know one effort for a whole request',
    },
    { feature: 'display of thinking', path: 'thinking.display', fate: 'dropped', reason: 'engines decide by themselves what they show' },
    {
      feature: 'context management',
      path: 'context_management',
      fate: 'dropped',
      reason: 'a hint for shortening long conversations; the whole conversation is sent',
    },
    {
      feature: 'cache marks',
      path: 'system[*].cache_control',
      fate: 'dropped',
      reason: 'a hint for prices that does not change the answer',
    },
    { feature: 'user id', path: 'metadata.user_id', fate: 'dropped', reason: 'bookkeeping of the vendor' },
    {
      feature: 'signed thinking of earlier answers',
      path: 'messages[*].content[*].signature',
      fate: 'dropped',
      reason: 'only the engine that signed it can read it',
    },
    {
      feature: 'web search of the vendor',
      path: 'tools[*].type',
      fate: 'emulated',
      reason: 'the engine’s own search is used; an engine without one refuses that single call, and the agent goes on',
    },
    { feature: 'warm-up call', path: 'HEAD /', fate: 'exact', reason: 'answered by the gateway' },
  ],
};
