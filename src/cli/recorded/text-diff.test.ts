import { expect, it } from 'vitest';
import { diffLines } from './text-diff.ts';

const show = (before: string, after: string): string[] => diffLines(before, after).map(({ sign, text }) => `${sign}${text}`);

it('shows what went, what came and what stayed', () => {
  expect(show('a\nb\nc', 'a\nx\nc\nd')).toEqual([' a', '-b', '+x', ' c', '+d']);
  expect(show('', 'a')).toEqual(['+a']);
  expect(show('a', '')).toEqual(['-a']);
  expect(show('same\ntext', 'same\ntext')).toEqual([' same', ' text']);
});

it('gives both texts back', () => {
  const [before, after] = ['1\n2\n3\n4\n2\n1', '2\n1\n3\n3\n1\n9'];
  const lines = diffLines(before, after);
  const side = (sign: string): string => lines.flatMap((line) => (line.sign === ' ' || line.sign === sign ? [line.text] : [])).join('\n');
  expect(side('-')).toBe(before);
  expect(side('+')).toBe(after);
});
