import { describe, expect, it } from 'vitest';
import { isTest, projectPaths } from './source-files.ts';

/** Words that say how a test feels instead of what it tests. */
const ADJECTIVES = [
  'additional',
  'advanced',
  'basic',
  'comprehensive',
  'enhanced',
  'exhaustive',
  'extra',
  'improved',
  'misc',
  'miscellaneous',
  'more',
  'simple',
  'thorough',
  'various',
];

function vague(path: string): boolean {
  const words = (path.split('/').at(-1) ?? '').split(/[-_.]/);
  return words.some((word) => ADJECTIVES.includes(word.toLowerCase()));
}

it('test files are named after what they test', () => {
  expect(projectPaths().filter((path) => isTest(path) && vague(path))).toEqual([]);
});

describe('the checker', () => {
  it.each(['test/store/comprehensive.test.ts', 'src/ir/fold-extra.test.ts', 'src/ir/misc_cases.test.ts'])('catches %s', (path) => {
    expect(vague(path)).toBe(true);
  });

  it.each(['src/ir/fold.test.ts', 'test/extra/fold.test.ts', 'src/cli/moreover.test.ts'])('passes %s', (path) => {
    expect(vague(path)).toBe(false);
  });
});
