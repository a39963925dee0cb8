import { expect, test } from 'vitest';
import { isTimeout, withinDeadline } from './deadline.ts';

test('work that ends in time gives its result, and its error', () => {
  expect(withinDeadline(60_000, () => 7)).toBe(7);
  expect(withinDeadline(60_000, () => undefined)).toBe(undefined);
  expect(() =>
    withinDeadline(60_000, () => {
      throw new Error('mine');
    }),
  ).toThrow('mine');
});

test('an expression that backtracks for ever is ended', () => {
  let thrown: unknown;
  try {
    withinDeadline(50, () => /^(a+)+$/.test(`${'a'.repeat(60)}!`));
  } catch (error) {
    thrown = error;
  }
  expect(isTimeout(thrown)).toBe(true);
  expect(withinDeadline(60_000, () => 'again')).toBe('again');
});
