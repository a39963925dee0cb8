import type { Traffic } from '../adapter.ts';
import { CHAT_ROWS, MESSAGES_ROWS, RESPONSES_ROWS } from '../families/traffic/wires.ts';
import { WIRES } from './spawn.ts';

export const traffic: Traffic = {
  dialect: 'openai-chat',
  dialects: WIRES.map(({ dialect }) => dialect),
  emulate: ['extended_thinking'],
  rows: [...CHAT_ROWS, ...MESSAGES_ROWS, ...RESPONSES_ROWS],
};
