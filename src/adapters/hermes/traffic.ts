import type { Traffic } from '../adapter.ts';
import { WIRES } from './spawn.ts';

export const traffic: Traffic = {
  dialect: 'openai-chat',
  dialects: WIRES.map(({ dialect }) => dialect),
  emulate: ['extended_thinking'],
  rows: [
    {
      feature: 'cache marks',
      path: 'messages[*].content[*].cache_control',
      fate: 'dropped',
      reason: 'a hint for prices that does not change the answer',
    },
    { feature: 'encrypted reasoning', path: 'include', fate: 'dropped', reason: 'other vendors have none to include' },
    { feature: 'stored responses off', path: 'store', fate: 'dropped', reason: 'other vendors store nothing, which is what it asks for' },
    { feature: 'cache key', path: 'prompt_cache_key', fate: 'dropped', reason: 'a hint for prices that does not change the answer' },
  ],
};
