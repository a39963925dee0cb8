import type { Traffic } from '../adapter.ts';
import { PI_DIALECTS, PI_ROWS } from '../families/pi/traffic.ts';

export const traffic: Traffic = {
  dialect: 'openai-chat',
  dialects: PI_DIALECTS,
  emulate: ['extended_thinking'],
  rows: PI_ROWS,
};
