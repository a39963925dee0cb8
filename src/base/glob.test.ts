import fc from 'fast-check';
import { expect, it } from 'vitest';
import { globMatch } from './glob.ts';

it.each([
  ['claude-*', 'claude-opus', true],
  ['claude-*', 'claude-', true],
  ['claude-*', 'my-claude-opus', false],
  ['*', '', true],
  ['*', 'anything', true],
  ['', '', true],
  ['', 'a', false],
  ['a*a', 'a', false],
  ['a*a', 'aa', true],
  ['*-mini', 'gpt-mini', true],
  ['*-mini', 'gpt-mini-2', false],
  ['a*b*c', 'a-b-b-c', true],
  ['a*b*c', 'a-c-b', false],
  ['a.c', 'abc', false],
  ['[ab]', 'a', false],
  ['a**b', 'ab', true],
])('%j on %j is %j', (pattern, text, expected) => {
  expect(globMatch(pattern, text)).toBe(expected);
});

it('agrees with the regular expression that says the same', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 8 });
  fc.assert(
    fc.property(word, fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 10 }), (pattern, text) => {
      expect(globMatch(pattern, text)).toBe(new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(text));
    }),
    { numRuns: 2000 },
  );
});
