import { expect, it, vi } from 'vitest';
import { Deadlines } from './deadlines.ts';

it('a limit longer than a timer can be does not end a run at once', () => {
  vi.useFakeTimers();
  const expired: string[] = [];
  const deadlines = new Deadlines({ totalMs: 3e9, silenceMs: 4e9, onExpired: (kind) => expired.push(kind) });
  deadlines.start();
  vi.advanceTimersByTime(24 * 3600 * 1000);
  expect(expired).toEqual([]);
  deadlines.stop();
  vi.useRealTimers();
});

it('silence is counted from the last word, and not while somebody is asked', () => {
  vi.useFakeTimers();
  const expired: string[] = [];
  const deadlines = new Deadlines({ totalMs: 0, silenceMs: 100, onExpired: (kind) => expired.push(kind) });
  deadlines.start();
  vi.advanceTimersByTime(90);
  deadlines.heard();
  vi.advanceTimersByTime(90);
  deadlines.hold();
  deadlines.heard();
  vi.advanceTimersByTime(1000);
  expect(expired).toEqual([]);
  deadlines.release();
  vi.advanceTimersByTime(100);
  expect(expired).toEqual(['inactivity']);
  deadlines.stop();
  vi.useRealTimers();
});
