import type { Traffic } from '../adapter.ts';
import { PI_DIALECTS, PI_ROWS } from '../families/pi/traffic.ts';

export const traffic: Traffic = {
  dialect: 'openai-chat',
  dialects: PI_DIALECTS,
  emulate: ['extended_thinking'],
  rows: [
    ...PI_ROWS,
    {
      feature: 'context editing',
      path: 'context_management',
      fate: 'dropped',
      reason: 'it shortens old thinking on the vendor’s side; without it the whole conversation is sent',
    },
    {
      feature: 'user id',
      path: 'metadata.user_id',
      fate: 'dropped',
      on: { 'openai-chat': 'renamed', 'openai-responses': 'renamed' },
      reason: 'a mark for the vendor’s abuse checks',
    },
  ],
};
