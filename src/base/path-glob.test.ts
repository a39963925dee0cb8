import fc from 'fast-check';
import { expect, it } from 'vitest';
import { processorMs } from '../../test/support/processor-time.ts';
import { pathGlob, pathGlobBelow, pathGlobOf, pathGlobSource } from './glob.ts';

it.each([
  ['*.lock', ['a.lock', 'a/b/c.lock'], ['a.lock.js']],
  ['**/.env', ['.env', 'a/.env', 'a/b/.env'], ['a.env', '.env.local']],
  ['**/.env*', ['.env', 'a/.env.local'], ['a/b.env']],
  ['secret/**', ['secret/a', 'secret/a/b'], ['secret', 'not-secret/a']],
  ['src/**/test.ts', ['src/test.ts', 'src/a/test.ts', 'src/a/b/test.ts'], ['src/a-test.ts', 'test.ts']],
  ['{a,b{c,d}}.ts', ['a.ts', 'bc.ts', 'bd.ts'], ['b.ts']],
  ['file[0-9].[!j]s', ['file1.ts'], ['filex.ts', 'file1.js']],
  ['a\\*b', ['a*b'], ['axb']],
  ['?', ['a', '/'], ['ab', '']],
  ['**/🔑*.txt', ['🔑.txt', 'a/🔑1.txt'], ['a.txt']],
  ['', [''], ['a']],
])('%s', (pattern, matching, others) => {
  const matches = pathGlob(pattern);
  expect(matching.filter((path) => !matches(path))).toEqual([]);
  expect(others.filter(matches)).toEqual([]);
});

it('refuses patterns that are not well formed', () => {
  expect(() => pathGlob('{a,b')).toThrow('a { without its }');
  expect(() => pathGlob('[a')).toThrow('a [ without its ]');
  expect(() => pathGlob('{a,b}'.repeat(10))).toThrow('stands for more than 256');
});

it('reads a long path once, whatever the pattern', () => {
  expect(processorMs(() => expect(pathGlob('*a'.repeat(50))('a'.repeat(4000).concat('b'))).toBe(false))).toBeLessThan(1000);
});

it.each([
  ['one that is very long', '{'.concat(','.repeat(300_000), '}', 'a'.repeat(300_000)), 'has 600002 characters; at most 4096 are read'],
  ['braces in braces', '{'.repeat(100_000).concat('a,b', '}'.repeat(100_000)), 'at most 4096 are read'],
  ['braces in braces that are short enough', '{'.repeat(2000).concat('a,b', '}'.repeat(2000)), 'has more than 16 braces in each other'],
  ['many words', '{'.concat(','.repeat(2000), '}', 'a'.repeat(2000)), 'stands for more than 256 others'],
  ['braces behind braces', '{a,b}'.repeat(800), 'stands for more than 256 others'],
  ['long alternatives', '{'.concat(','.repeat(200), '}', 'a'.repeat(3000)), 'stands for more than 16384 characters'],
])('refuses in little time a pattern that costs much: %s', (_, pattern, why) => {
  expect(processorMs(() => expect(() => pathGlob(pattern)).toThrow(why))).toBeLessThan(100);
});

it('reads braces in braces, sixteen deep', () => {
  expect(pathGlob('{'.repeat(16).concat('a,b', '}'.repeat(16)))('b')).toBe(true);
});

it('means the same as a regular expression', () => {
  const pattern = fc.string({
    unit: fc.constantFrom('a', 'b', '.', '/', '*', '**/', '?', '[a-b]', '[!a]', '[.^]', '{a,b/}', '\\*', '(', '$'),
  });
  const path = fc.string({ unit: fc.constantFrom('a', 'b', '.', '/', '*', '(', '$', '^') });
  fc.assert(
    fc.property(pattern, path, (glob, text) => {
      expect(new RegExp(`^${pathGlobSource(glob)}$`, 's').test(text)).toBe(pathGlob(glob)(text));
    }),
  );
});

it('says what it matches below a folder, as patterns from there on', () => {
  const unit = fc.constantFrom('a', 'b', '/', '*', '**/', '?', '[a-b]', '{a,b/}', '\\*');
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '/', '*') });
  fc.assert(
    fc.property(fc.string({ unit }), text, text, (glob, above, path) => {
      const folder = `${above}/`;
      const below = pathGlobBelow(glob, folder).some((rest) => pathGlob(rest)(path));
      if (path !== '') expect(below).toBe(pathGlob(glob)(folder + path));
      expect(pathGlob(pathGlobOf(path))(path)).toBe(true);
    }),
  );
});
