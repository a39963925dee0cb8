import { describe, expect, it } from 'vitest';
import { isTest, type SourceFile, typescriptFiles } from './source-files.ts';

const MAX_LINES = 400;
const MAX_MEDIAN = 100;

const linesOf = (text: string): number => text.split('\n').length - (text.endsWith('\n') ? 1 : 0);

function tooLong(files: readonly SourceFile[]): string[] {
  return files.filter(({ text }) => linesOf(text) > MAX_LINES).map(({ path, text }) => `${path}: ${linesOf(text)} lines`);
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? (sorted[middle] ?? 0) : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
}

it('no file is longer than 400 lines', () => {
  expect(tooLong(typescriptFiles('src', 'test', 'bench', 'scripts', 'hosts', 'examples', 'console'))).toEqual([]);
});

it('the median source file has fewer than 100 lines', () => {
  const sources = typescriptFiles('src').filter(({ path }) => !isTest(path));
  expect(median(sources.map(({ text }) => linesOf(text)))).toBeLessThan(MAX_MEDIAN);
});

describe('the checkers', () => {
  it('catch a file of 401 lines and pass one of 400', () => {
    const file = (lines: number): SourceFile => ({ path: 'src/a.ts', text: 'x\n'.repeat(lines) });
    expect(tooLong([file(400)])).toEqual([]);
    expect(tooLong([file(401)])).toEqual(['src/a.ts: 401 lines']);
  });

  it('take the middle of an odd and of an even count', () => {
    expect(median([300, 1, 20])).toBe(20);
    expect(median([300, 1, 20, 40])).toBe(30);
  });
});
