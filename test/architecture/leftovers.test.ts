import { expect, it } from 'vitest';
import { type SourceFile, typescriptFiles } from './source-files.ts';

/** Files that make temporary folders which somebody else removes. */
const REMOVED_ELSEWHERE = [
  'test/package/project/main.ts', // a program of users; its script removes all of the project
  'test/places/places.ts', // below the folder of the place
  'test/support/postgres.ts', // its watchdog outlives the tests
];

/** Files of tests that make a temporary folder, and remove none. */
function leaving(files: readonly SourceFile[]): string[] {
  return files.filter(({ text }) => text.includes('mkdtemp') && !/\b(?:rm|rmSync)\(/.test(text)).map(({ path }) => path);
}

it('a file of tests that makes temporary folders removes them', () => {
  const tests = typescriptFiles('src', 'test').filter(({ path }) => path.startsWith('test/') || path.endsWith('.test.ts'));
  expect(leaving(tests)).toEqual(REMOVED_ELSEWHERE);
});

it('the checker finds a file that leaves its folders', () => {
  const file = (text: string): SourceFile => ({ path: 'a.test.ts', text });
  expect(leaving([file("const folder = mkdtempSync(join(tmpdir(), 'a-'));")])).toEqual(['a.test.ts']);
  expect(leaving([file('const folder = await mkdtemp(place);\nafterAll(() => rm(folder, { recursive: true }));')])).toEqual([]);
});
