import { posix } from 'node:path';
import { expect, it } from 'vitest';
import { importsOf } from './imports.ts';
import { projectPaths, readSource } from './source-files.ts';

const RANKS: Readonly<Record<string, number>> = { base: 0, api: 0, components: 1, pages: 2 };

const areaOf = (path: string): string => path.split('/')[2] ?? '';
const placeIn = (path: string): string => path.split('/').slice(0, 4).join('/');

/** Why a file of the console may not import this; undefined when it may. */
function crossing(from: string, target: string, typeOnly: boolean): string | undefined {
  if (target.startsWith('src/')) return typeOnly ? undefined : 'takes more than types of src';
  if (!target.startsWith('console/src/')) return 'leaves the console';
  const [own, other] = [RANKS[areaOf(from)], RANKS[areaOf(target)]];
  if (own === undefined || other === undefined) return undefined;
  if (other > own) return 'upward';
  return areaOf(from) === 'pages' && areaOf(target) === 'pages' && placeIn(from) !== placeIn(target) ? 'from page to page' : undefined;
}

it('in the console pages take components, and components what is below them', () => {
  const files = projectPaths().filter((path) => /^console\/src\/.*\.tsx?$/.test(path));
  expect(files.length).toBeGreaterThan(40);
  const broken = files.flatMap((path) =>
    importsOf(readSource(path).text).flatMap(({ specifier, typeOnly }) => {
      if (!specifier.startsWith('.')) return [];
      const target = posix.join(posix.dirname(path), specifier);
      const why = crossing(path, target, typeOnly);
      return why === undefined ? [] : [`${path} → ${target}: ${why}`];
    }),
  );
  expect(broken).toEqual([]);
});

it('every component has a file of its states for the gallery', () => {
  const paths = new Set(projectPaths());
  const names = new Set([...paths].flatMap((path) => /^console\/src\/components\/([^/]+)\//.exec(path)?.[1] ?? []));
  expect(names.size).toBeGreaterThan(20);
  expect([...names].filter((name) => !paths.has(`console/src/components/${name}/${name}.gallery.tsx`))).toEqual([]);
});

it('the checker knows what it forbids', () => {
  expect(crossing('console/src/pages/runs/a.ts', 'console/src/pages/run/b.ts', false)).toBe('from page to page');
  expect(crossing('console/src/components/a/a.tsx', 'console/src/pages/run/b.ts', true)).toBe('upward');
  expect(crossing('console/src/api/types.ts', 'src/gateway/api/runs.ts', false)).toBe('takes more than types of src');
  expect(crossing('console/src/pages/runs/a.ts', 'console/src/components/b/b.tsx', false)).toBeUndefined();
});
