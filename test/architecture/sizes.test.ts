import { posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isTest, typescriptFiles } from './source-files.ts';

const MAX_MEDIAN = 100;
const MAX_FILES = 25;

const linesOf = (text: string): number => text.split('\n').length - (text.endsWith('\n') ? 1 : 0);

/** Folders that hold more sources side by side than a reader takes in at a glance; tests stand beside their source and do not count. */
function crowded(paths: readonly string[]): string[] {
  const counts = Map.groupBy(
    paths.filter((path) => !isTest(path)),
    (path) => posix.dirname(path),
  );
  return [...counts].filter(([, files]) => files.length > MAX_FILES).map(([folder, files]) => `${folder}: ${files.length} files`);
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? (sorted[middle] ?? 0) : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
}

it('the median source file has fewer than 100 lines', () => {
  const sources = typescriptFiles('src').filter(({ path }) => !isTest(path));
  expect(median(sources.map(({ text }) => linesOf(text)))).toBeLessThan(MAX_MEDIAN);
});

it('no folder of src holds more than 25 files', () => {
  expect(crowded(typescriptFiles('src').map(({ path }) => path))).toEqual([]);
});

describe('the checkers', () => {
  it('catch a folder of 26 sources and leave its tests out of the count', () => {
    const files = (count: number): string[] => Array.from({ length: count }, (_, index) => `src/a/f${index}.ts`);
    expect(crowded([...files(25), 'src/a/f1.test.ts', 'src/a/b/c.ts'])).toEqual([]);
    expect(crowded(files(26))).toEqual(['src/a: 26 files']);
  });

  it('take the middle of an odd and of an even count', () => {
    expect(median([300, 1, 20])).toBe(20);
    expect(median([300, 1, 20, 40])).toBe(30);
  });
});
