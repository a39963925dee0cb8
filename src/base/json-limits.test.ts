import fc from 'fast-check';
import { expect, it } from 'vitest';
import { jsonExcess, MOST_LEVELS, parseShallow, parseShallowObject } from './json-limits.ts';

const LIMITS = { depth: 3, values: 5 };

it.each([
  ['[[[]]]', undefined],
  ['[[[[', 'it is nested deeper than 3 levels'],
  ['{"a":{"b":{"c":{}}}}', 'it is nested deeper than 3 levels'],
  ['"[[[[[,,,,,,"', undefined],
  ['"\\"[[[[["', undefined],
  ['[1,2,3,4]', undefined],
  ['[1,2,3,4,5]', 'it holds more than 5 values'],
])('%s: %s', (text, expected) => {
  expect(jsonExcess(text, LIMITS)).toBe(expected);
});

it('lets every value pass that is within wide limits', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(jsonExcess(JSON.stringify(value), { depth: 200, values: 1e6 })).toBeUndefined();
    }),
  );
});

const lists = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`;

it('parses texts of others as deep as code can walk them, and no deeper', () => {
  expect(parseShallow(lists(MOST_LEVELS)).ok).toBe(true);
  expect(parseShallow(lists(MOST_LEVELS + 1))).toEqual({ ok: false, message: 'it is nested deeper than 1000 levels' });
  expect(parseShallowObject(`{"a":${lists(20_000)}}`)).toBeUndefined();
  // Brackets in a text, and beside each other, are no levels.
  expect(parseShallowObject(JSON.stringify({ a: lists(20_000), b: Array.from({ length: 5000 }, () => ({})) }))).toBeDefined();
});
