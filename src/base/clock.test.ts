import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isoTime } from './clock.ts';

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
