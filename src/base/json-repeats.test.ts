import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Json } from './json.ts';
import { jsonMarks } from './json-limits.ts';
import { marksIn, repeatedMember } from './json-repeats.ts';

it.each([
  ['{"a":1,"a":2}', 'a'],
  ['{"a":1,"\\u0061":2}', 'a'],
  ['[{"b":{"c":1,"d":[],"c":{}}}]', 'c'],
  ['{"a":{"a":1},"b":{"a":1}}', undefined],
  ['{"a":"a","b":"a"}', undefined],
  ['["a","a",{"x":["x","x"]}]', undefined],
  ['{ "a" : "{\\"b\\":1,\\"b\\":2}" , "b" : 1 }', undefined],
])('%s repeats %s', (text, expected) => {
  expect(repeatedMember(text)).toBe(expected);
  const parsed: Json = JSON.parse(text);
  expect(jsonMarks(text) === marksIn(parsed)).toBe(expected === undefined);
});

it('takes no text for one that repeats a member that was written from a value', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.nat(3), (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      expect(repeatedMember(text)).toBeUndefined();
      // A parser reads `-0` and `__proto__` in its own way; what is compared is what it read.
      expect(jsonMarks(text)).toBe(marksIn(JSON.parse(text)));
    }),
  );
});
