import { expect, it } from 'vitest';
import { type SourceFile, typescriptFiles } from './source-files.ts';

/** Conditional tests whose name does not come from `needing`, so that nobody would be told why they did not run. */
function unexplained(files: readonly SourceFile[]): string[] {
  return files.flatMap(({ path, text }) =>
    [...text.matchAll(/\.(?:skipIf|runIf)\((?:[^()]|\([^()]*\))*\)(?:\.each\([^\n]*\))?\((?!\s*needing\()(.{0,40})/g)].map(
      ([, name]) => `${path}: ${name}`,
    ),
  );
}

it('every test that may be skipped says why', () => {
  expect(unexplained(typescriptFiles('src', 'test').filter(({ path }) => !path.endsWith('/skips.test.ts')))).toEqual([]);
});

it('the checker finds a skip without a reason', () => {
  const file = (text: string): SourceFile => ({ path: 'a.test.ts', text });
  expect(unexplained([file("it.skipIf(a() === 1)('name', () => 0)")])).toEqual(["a.test.ts: 'name', () => 0)"]);
  expect(unexplained([file("describe.runIf(b)(needing('name', why), () => 0)")])).toEqual([]);
});
