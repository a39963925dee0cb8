import type { Traffic } from '../adapter.ts';
import { effortRow, MESSAGES_ROWS } from '../families/traffic/wires.ts';

const IN_PLACE = 'kept in its place where the engine takes one, else as labelled text';

/** Claude Code sends more than plain messages and tools; these rows say which members, and how other engines are served with them. */
export const traffic: Traffic = {
  dialect: 'claude',
  dialects: ['claude'],
  emulate: ['extended_thinking', 'structured_output_json_schema'],
  rows: [
    ...MESSAGES_ROWS,
    {
      feature: 'system message inside the list',
      path: 'messages[*].content[*].text',
      fate: 'renamed',
      on: { gemini: 'emulated' },
      reason: IN_PLACE,
    },
    {
      feature: 'system message of one text',
      path: 'messages[*].content',
      fate: 'renamed',
      on: { gemini: 'emulated' },
      reason: IN_PLACE,
    },
    effortRow('effort', 'output_config.effort'),
    {
      feature: 'thinking beside an effort',
      path: 'thinking.type',
      fate: 'emulated',
      on: { 'openai-chat': 'dropped', 'openai-responses': 'dropped', kimi: 'dropped', copilot: 'dropped' },
      reason: 'the effort decides where an engine has one setting for both',
    },
    {
      feature: 'effort of one turn',
      path: 'messages[*].output_config.effort',
      fate: 'dropped',
      reason: 'other engines know one effort for a whole request',
    },
    {
      feature: 'context management',
      path: 'context_management',
      fate: 'dropped',
      reason: 'a hint for shortening long conversations; the whole conversation is sent',
    },
    {
      feature: 'user id',
      path: 'metadata.user_id',
      fate: 'dropped',
      on: { 'openai-responses': 'emulated' },
      reason: 'bookkeeping of the vendor, and longer than the ids of others may be',
    },
    {
      feature: 'input of tools in small pieces',
      path: 'tools[*].eager_input_streaming',
      fate: 'dropped',
      reason: 'engines decide by themselves how they stream a call',
    },
    {
      feature: 'number of searches',
      path: 'tools[*].max_uses',
      fate: 'dropped',
      reason: 'it bounds the bill, and other engines count for themselves',
    },
    {
      feature: 'web search of the vendor',
      path: 'tools[*]',
      fate: 'renamed',
      on: { gemini: 'emulated', 'openai-responses': 'emulated' },
      reason: 'the engine’s own search is used; an engine without one refuses that single call, and the agent goes on',
    },
    { feature: 'warm-up call', path: 'HEAD /', fate: 'exact', reason: 'answered by the gateway' },
  ],
};
