import { expect, it } from 'vitest';
import { mayRetry, retryDelay } from './retry.ts';

const policy = { maxAttempts: 3, baseDelayMs: 1000, maxDelayMs: 3000, jitterFactor: 0.1, retryOn: ['RATE_LIMITED'] };

it('waits twice as long each time, up to a limit, with a share of chance', () => {
  expect([2, 3, 4].map((attempt) => retryDelay(policy, attempt, 0.5))).toEqual([1000, 2000, 3000]);
  expect([0, 1].map((random) => retryDelay(policy, 2, random))).toEqual([900, 1100]);
});

it('tries again only what may be tried again', () => {
  const failure = { code: 'RATE_LIMITED', attempt: 1, acted: false };
  expect(mayRetry(policy, failure)).toBe(true);
  expect(mayRetry(policy, { ...failure, acted: true })).toBe(false);
  expect(mayRetry(policy, { ...failure, attempt: 3 })).toBe(false);
  expect(mayRetry(policy, { ...failure, code: 'AUTH_ERROR' })).toBe(false);
  expect(mayRetry(undefined, failure)).toBe(false);
});
