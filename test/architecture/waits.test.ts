import { expect, it } from 'vitest';
import { type SourceFile, typescriptFiles } from './source-files.ts';

/** The shortest time a test may wait for a state, and may take as a whole: a busy machine is many times slower than a quiet one. */
const STATE_MS = 60_000;
const TEST_MS = 120_000;

const LIMITS: readonly (readonly [pattern: RegExp, leastMs: number])[] = [
  [/(?:\.poll|waitFor|waitUntil)\([^;]{0,400}?\btimeout: ([\d_]+)/g, STATE_MS],
  [/\b(?:it|test|describe)(?:\.\w+)*\([^;]{0,200}?\{\s*timeout: ([\d_]+)/g, TEST_MS],
  [/^\s*\}, ([\d_]{4,})\);$/gm, TEST_MS],
  // What a test measures in less time than that is processor time, or leaves out what others had of the machine (`processor-time.ts`).
  [/(?:performance|Date)\.now\(\) - \w+\)\.toBeLessThan(?:OrEqual)?\(([\d_]+)\)/g, STATE_MS],
];

/** Limits of tests that only a quick machine keeps. */
function hasty(files: readonly SourceFile[]): string[] {
  return files.flatMap(({ path, text }) =>
    LIMITS.flatMap(([pattern, leastMs]) =>
      [...text.matchAll(pattern)].filter(([, ms = '']) => Number(ms.replaceAll('_', '')) < leastMs).map(([, ms]) => `${path}: ${ms} ms`),
    ),
  );
}

it('no test gives up before a busy machine had its time', () => {
  const tests = typescriptFiles('src', 'test').filter(({ path }) => path.endsWith('.test.ts') && !path.endsWith('/waits.test.ts'));
  expect(hasty(tests)).toEqual([]);
});

it('the checker finds each kind of short limit', () => {
  const file = (text: string): SourceFile => ({ path: 'a.test.ts', text });
  expect(hasty([file('await expect.poll(() => state(), { timeout: 5000 }).toBe(1);')])).toEqual(['a.test.ts: 5000 ms']);
  expect(hasty([file("it('is quick', { timeout: 60_000 }, async () => {});")])).toEqual(['a.test.ts: 60_000 ms']);
  expect(hasty([file("it('is quick', () => {\n}, 60_000);")])).toEqual(['a.test.ts: 60_000 ms']);
  expect(hasty([file('expect(performance.now() - began).toBeLessThan(2000);')])).toEqual(['a.test.ts: 2000 ms']);
  expect(hasty([file("it('takes its time', { timeout: 120_000 }, () => {});")])).toEqual([]);
});
