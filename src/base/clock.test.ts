import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hasPassed, isoTime } from './clock.ts';

test('a time is written as the calendar of the language writes it', () => {
  expect(isoTime(1_800_000_000_007)).toBe('2027-01-15T08:00:00.007Z');
  fc.assert(fc.property(fc.integer({ min: 0, max: 8_000_000_000_000 }), (ms) => isoTime(ms) === new Date(ms).toISOString()));
});

test('times that follow each other are each written right', () => {
  for (const ms of [999, 1000, 1001, 1999, 1000, 2000]) expect(isoTime(ms)).toBe(new Date(ms).toISOString());
});

test('what is no time is refused', () => {
  expect(() => isoTime(Number.NaN)).toThrow(RangeError);
});

test('what waits for a time is due when the clock was set back', () => {
  expect([999, 1000, 5000].map((now) => hasPassed(900, 100, now))).toEqual([false, true, true]);
  expect([99, -5].map((now) => hasPassed(900, 100, now))).toEqual([true, true]);
  expect(hasPassed(900, Number.NEGATIVE_INFINITY, 0)).toBe(true);
});
