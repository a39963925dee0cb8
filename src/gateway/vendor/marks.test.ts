import { expect, test } from 'vitest';
import { markedEngine } from './marks.ts';

test('a path that is also ours is the vendor’s when its own header says so', () => {
  const headers = { 'anthropic-version': '2023-06-01' };
  for (const path of ['/v1/agents', '/v1/agents/a_1', '/v1/sessions', '/v1/sessions/s_1/events']) {
    expect(markedEngine(path, headers)).toBe('claude');
    expect(markedEngine(path, {})).toBeUndefined();
  }
  // Google has no such paths, and its SDK may carry a key of ours.
  expect(markedEngine('/v1/agents', { 'x-goog-api-key': 'k' })).toBeUndefined();
  for (const path of ['/v1/agentsx', '/v1/receipts', '/']) expect(markedEngine(path, headers)).toBeUndefined();
});
