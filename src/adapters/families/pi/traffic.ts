import type { TrafficRow } from '../../adapter.ts';
import { PI_WIRES } from './spawn.ts';

export const PI_DIALECTS: readonly string[] = PI_WIRES.map(({ dialect }) => dialect);

/** What the requests of the family hold beside plain messages and tools, on each of its wires. */
export const PI_ROWS: readonly TrafficRow[] = [
  {
    feature: 'thinking with a budget',
    path: 'thinking',
    fate: 'emulated',
    reason: 'the engine’s own thinking parameter is used, and the budget becomes its nearest level',
  },
  { feature: 'cache marks', path: 'system[*].cache_control', fate: 'dropped', reason: 'a hint for prices that does not change the answer' },
  { feature: 'stored responses off', path: 'store', fate: 'dropped', reason: 'other vendors store nothing, which is what it asks for' },
  { feature: 'cache key', path: 'prompt_cache_key', fate: 'dropped', reason: 'a hint for prices that does not change the answer' },
  { feature: 'encrypted reasoning', path: 'include', fate: 'dropped', reason: 'other vendors have none to include' },
  {
    feature: 'reasoning summary',
    path: 'reasoning.summary',
    fate: 'dropped',
    reason: 'an engine that tells its thoughts tells them anyway',
  },
  { feature: 'developer message', path: 'messages[*].role', fate: 'renamed', reason: 'it is the system prompt of the other dialects' },
];
