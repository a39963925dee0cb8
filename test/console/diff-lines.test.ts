import { expect, it } from 'vitest';
import { diffLines } from '../../console/src/components/diff/lines.ts';

it('a removed line has its number in the file before, every other one in the file after', () => {
  const diff = '@@ -18,3 +18,4 @@\n one\n-two\n+deux\n+trois\n three\n@@ -40 +41 @@\n-x\n+y\n';
  expect(diffLines(diff).map(({ kind, number, text }) => `${number ?? ''} ${kind} ${text}`)).toEqual([
    '18 kept one',
    '19 removed two',
    '19 added deux',
    '20 added trois',
    '21 kept three',
    ' gap ⋯',
    '40 removed x',
    '41 added y',
  ]);
});

it('a new file begins at its first line, and a piece of a file says nothing of where it stands', () => {
  expect(diffLines('+a\n+b').map(({ number }) => number)).toEqual([1, 2]);
  expect(diffLines('-a\n+b\n c').map(({ number }) => number)).toEqual([null, null, null]);
});
