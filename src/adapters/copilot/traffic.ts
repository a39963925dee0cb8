import type { Traffic } from '../adapter.ts';
import { WIRES } from './spawn.ts';

/** What Copilot CLI puts into its requests beside plain messages and tools, on each of its wires. */
export const traffic: Traffic = {
  dialect: 'openai-chat',
  dialects: WIRES.map(({ dialect }) => dialect),
  emulate: ['extended_thinking'],
  rows: [
    {
      feature: 'sampling at its zero point',
      path: 'temperature',
      fate: 'renamed',
      reason: 'engines have the setting; models that take no sampling refuse it, as they do for everybody',
    },
    {
      feature: 'penalties of zero',
      path: 'frequency_penalty',
      fate: 'dropped',
      reason: 'zero is what an engine without the setting does',
    },
    {
      feature: 'reasoning effort',
      path: 'reasoning_effort',
      fate: 'renamed',
      reason: 'engines with levels or budgets take the nearest one',
    },
    { feature: 'usage in the stream', path: 'stream_options', fate: 'renamed', reason: 'every engine tells its usage' },
    { feature: 'thinking with a budget', path: 'thinking', fate: 'emulated', reason: 'the engine’s own thinking parameter is used' },
    { feature: 'stored responses off', path: 'store', fate: 'dropped', reason: 'other engines store nothing, which is what it asks for' },
    { feature: 'cache key', path: 'prompt_cache_key', fate: 'dropped', reason: 'a hint for prices that does not change the answer' },
    { feature: 'encrypted reasoning', path: 'include', fate: 'dropped', reason: 'other engines have none to include' },
  ],
};
