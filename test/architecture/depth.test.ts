import { expect, it } from 'vitest';
import { isTest, type SourceFile, typescriptFiles } from './source-files.ts';

/** Files that read what this program has written itself, where nobody else can write. */
const OWN_TEXTS = new Set(['src/runtime/profiles.ts', 'src/runtime/runs/process/run-folder.ts', 'src/runtime/workspaces/change-set.ts']);

/** What programs write is parsed with a limit on its levels: a value that code cannot walk ends the process, and everybody's calls with it. */
function unbounded(files: readonly SourceFile[]): string[] {
  return files
    .filter(({ path, text }) => !OWN_TEXTS.has(path) && /\bparseJson(?:Object)?\b|\bJSON\.parse\b/.test(text))
    .map(({ path }) => path);
}

it('lines of coding agents and sidecars are parsed with a limit on their levels', () => {
  const files = typescriptFiles('src/adapters', 'src/runtime').filter(({ path }) => !isTest(path));
  expect(unbounded(files)).toEqual([]);
});

it('the checker finds a parser without a limit', () => {
  const file = (text: string): SourceFile => ({ path: 'src/adapters/a.ts', text });
  expect(unbounded([file("import { parseJsonObject } from '../base/json.ts';")])).toEqual(['src/adapters/a.ts']);
  expect(unbounded([file('JSON.parse(line)'), file('parseShallow(line)')])).toEqual(['src/adapters/a.ts']);
});
