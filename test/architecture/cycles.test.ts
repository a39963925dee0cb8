import { posix } from 'node:path';
import { expect, it } from 'vitest';
import { importsOf } from './imports.ts';
import { isTest, type SourceFile, typescriptFiles } from './source-files.ts';

/** The files that each file names in an import, of types too. A dynamic import is a choice at run time, and not looked at. */
function graphOf(files: readonly SourceFile[]): Map<string, readonly string[]> {
  return new Map(
    files.map(({ path, text }) => {
      const fixed = text.replaceAll(/\bimport\(/g, 'later(');
      const targets = importsOf(fixed).filter(({ specifier }) => specifier.startsWith('.'));
      return [path, targets.map(({ specifier }) => posix.join(posix.dirname(path), specifier))];
    }),
  );
}

/** Circles of imports, each once. */
function circlesIn(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const done = new Set<string>();
  const found = new Set<string>();
  const walk = (file: string, way: readonly string[]): void => {
    const at = way.indexOf(file);
    if (at !== -1) found.add([...way.slice(at), file].join(' → '));
    if (at !== -1 || done.has(file)) return;
    for (const target of graph.get(file) ?? []) walk(target, [...way, file]);
    done.add(file);
  };
  for (const file of graph.keys()) walk(file, []);
  return [...found];
}

it('no file of src imports itself over others, not even for types', () => {
  const files = typescriptFiles('src').filter(({ path }) => !isTest(path));
  expect(files.length).toBeGreaterThan(0);
  expect(circlesIn(graphOf(files))).toEqual([]);
});

it('the checker finds a circle over types, and lets a dynamic import pass', () => {
  const file = (path: string, text: string): SourceFile => ({ path, text });
  const round = [
    file('src/a/one.ts', "import type { B } from '../b/two.ts';"),
    file('src/b/two.ts', "import { c } from './three.ts';"),
    file('src/b/three.ts', "import { a } from '../a/one.ts';"),
  ];
  expect(circlesIn(graphOf(round))).toEqual(['src/a/one.ts → src/b/two.ts → src/b/three.ts → src/a/one.ts']);
  const later = [file('src/a/one.ts', "await import('./two.ts');"), file('src/a/two.ts', "import type { A } from './one.ts';")];
  expect(circlesIn(graphOf(later))).toEqual([]);
});
