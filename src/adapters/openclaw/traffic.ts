import type { Traffic } from '../adapter.ts';
import { WIRES } from './spawn.ts';

export const traffic: Traffic = {
  dialect: 'openai-chat',
  dialects: WIRES.map(({ dialect }) => dialect),
  emulate: ['extended_thinking'],
  rows: [
    {
      feature: 'two user messages in a row',
      path: 'messages[*]',
      fate: 'exact',
      reason: 'the prompt is followed by a message of the agent about its surroundings',
    },
    {
      feature: 'thinking with a budget',
      path: 'thinking',
      fate: 'emulated',
      reason: 'the engine’s own thinking parameter is used, and the budget becomes its nearest level',
    },
    {
      feature: 'cache marks',
      path: 'system[*].cache_control',
      fate: 'dropped',
      reason: 'a hint for prices that does not change the answer',
    },
    { feature: 'encrypted reasoning', path: 'include', fate: 'dropped', reason: 'other vendors have none to include' },
    {
      feature: 'reasoning summary',
      path: 'reasoning.summary',
      fate: 'dropped',
      reason: 'an engine that tells its thoughts tells them anyway',
    },
  ],
};
