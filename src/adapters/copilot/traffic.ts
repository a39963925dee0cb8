import type { Traffic } from '../adapter.ts';
import { CHAT_ROWS, MESSAGES_ROWS, RESPONSES_ROWS, samplingRow } from '../families/traffic/wires.ts';
import { WIRES } from './spawn.ts';

/** Copilot CLI sends more than plain messages and tools; these rows say which members on each of its wires. */
export const traffic: Traffic = {
  dialect: 'openai-chat',
  dialects: WIRES.map(({ dialect }) => dialect),
  emulate: ['extended_thinking'],
  rows: [
    ...CHAT_ROWS,
    ...MESSAGES_ROWS,
    ...RESPONSES_ROWS,
    samplingRow('temperature', 'temperature'),
    samplingRow('top_p', 'topP'),
    { feature: 'frequency penalty of zero', path: 'frequency_penalty', fate: 'exact', reason: 'zero is what an engine without it does' },
    { feature: 'presence penalty of zero', path: 'presence_penalty', fate: 'exact', reason: 'zero is what an engine without it does' },
  ],
};
