import fc from 'fast-check';
import { expect, it } from 'vitest';
import { lineDiff } from './line-diff.ts';

const SIGNS = { equal: ' ', removed: '-', added: '+' };
const show = (before: string, after: string): string[] =>
  lineDiff(before.split(' '), after.split(' ')).map(({ kind, lines }) => `${SIGNS[kind]}${lines.join(' ')}`);

it('shows what went, what came and what stayed', () => {
  expect(show('a b c', 'a x c d')).toEqual([' a', '-b', '+x', ' c', '+d']);
  expect(show('same text', 'same text')).toEqual([' same text']);
  expect(lineDiff([], ['a'])).toEqual([{ kind: 'added', lines: ['a'] }]);
  expect(lineDiff(['a'], [])).toEqual([{ kind: 'removed', lines: ['a'] }]);
  expect(lineDiff([], [])).toEqual([]);
});

it('gives both texts back, and never says a kind twice in a row or added before removed', () => {
  const texts = fc.array(fc.constantFrom('', 'a', 'b', 'c'), { maxLength: 30 });
  fc.assert(
    fc.property(texts, texts, (a, b) => {
      const pieces = lineDiff(a, b);
      const side = (gone: string): string[] => pieces.flatMap(({ kind, lines }) => (kind === gone ? [] : lines));
      expect([side('added'), side('removed')]).toEqual([a, b]);
      const kinds = pieces.map(({ kind }) => kind);
      for (const [at, kind] of kinds.entries()) {
        expect(kind).not.toBe(kinds[at + 1]);
        if (kind === 'added') expect(kinds[at + 1]).not.toBe('removed');
      }
    }),
  );
});

it('replaces the whole middle of two long texts that have too little in common', () => {
  const text = (word: string): string[] => ['first', ...Array.from({ length: 200_000 }, (_, at) => `${word}${at}`), 'last'];
  expect(lineDiff(text('a'), text('b')).map(({ kind, lines }) => [kind, lines.length])).toEqual([
    ['equal', 1],
    ['removed', 200_000],
    ['added', 200_000],
    ['equal', 1],
  ]);
});
