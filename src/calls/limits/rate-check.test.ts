import { afterEach, expect, test, vi } from 'vitest';
import { rateCheck } from './rate-check.ts';

afterEach(() => vi.useRealTimers());

test('a clock that is set back does not keep a caller waiting', () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 5, 1) });
  const held = [{ id: 'key_1', name: 'This caller', limits: { requests_per_minute: 100 } }];
  const { check } = rateCheck(() => held);
  const call = { way: 'relay', owner: { keyId: 'key_1', parent: null, tags: [] }, engine: 'sim', model: 'm' } as never; // as much of a call as is looked at
  expect(typeof check(call)).toBe('function');
  vi.setSystemTime(Date.UTC(2026, 5, 1) - 3_600_000);
  expect(typeof check(call)).toBe('function');
});
