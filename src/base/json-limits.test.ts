import fc from 'fast-check';
import { expect, it } from 'vitest';
import { jsonExcess } from './json-limits.ts';

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
