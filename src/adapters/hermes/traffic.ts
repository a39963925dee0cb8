import type { Traffic } from '../adapter.ts';
import { CHAT_ROWS, MESSAGES_ROWS, RESPONSES_ROWS } from '../families/traffic/wires.ts';
import { WIRES } from './spawn.ts';

/** On Chat its messages hold cache marks in Anthropic's form. */
export const traffic: Traffic = {
  dialect: 'openai-chat',
  dialects: WIRES.map(({ dialect }) => dialect),
  emulate: ['extended_thinking'],
  rows: [
    ...CHAT_ROWS,
    ...MESSAGES_ROWS,
    ...RESPONSES_ROWS,
    {
      feature: 'names of tools beside their results',
      path: 'messages[*].name',
      fate: 'dropped',
      on: { kimi: 'renamed', copilot: 'renamed' },
      reason: 'the id of the call says which tool it was',
    },
  ],
};
