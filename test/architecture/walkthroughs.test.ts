import { expect, it } from 'vitest';
import { RANKS, roomOf } from './ranks.ts';
import { projectPaths, readSource } from './source-files.ts';

interface Stop {
  readonly path: string;
  readonly names: readonly string[];
}

interface Walk {
  readonly title: string;
  readonly stops: readonly Stop[];
}

function walksOf(page: string): Walk[] {
  return page
    .split(/^## /m)
    .slice(1)
    .map((section) => ({
      title: section.split('\n')[0] ?? '',
      stops: [...section.matchAll(/^- `([^`]+)`: `([^`]+)`/gm)].map(([, path = '', name = '']) => ({ path, names: [name] })),
    }));
}

/** Whether the text declares a function, class, method or constant of the name. */
function declares(text: string, name: string): boolean {
  return new RegExp(
    `^\\s*(?:export )?(?:async )?(?:function|class|const|let) ${name}\\b|^\\s+(?:static )?(?:async )?${name}(?:<[^>]*>)?\\(`,
    'm',
  ).test(text);
}

/** What is wrong with a walk. */
function faultsOf({ title, stops }: Walk, paths: readonly string[], read: (path: string) => string): string[] {
  const missing = stops
    .filter(({ path, names }) => !paths.includes(path) || !names.every((name) => declares(read(path), name)))
    .map(({ path, names }) => `${title}: ${path} has no ${names.join(', ')}`);
  const rooms = stops.map(({ path }) => roomOf(path)).filter((room, at, all) => room !== all[at - 1]);
  const again = rooms.filter((room, at) => rooms.indexOf(room) !== at).map((room) => `${title}: ${room} is entered twice`);
  const up = rooms
    .filter((room, at) => at > 0 && (RANKS[room] ?? 0) > (RANKS[rooms[at - 1] ?? ''] ?? 0))
    .map((room) => `${title}: ${room} lies above the room before it`);
  return [...missing, ...again, ...up];
}

it('every walk names functions that are there, and goes down the ranks with no room entered twice', () => {
  const walks = walksOf(readSource('docs/walkthroughs.md').text);
  expect(walks).toHaveLength(5);
  for (const { stops } of walks) expect(stops.length).toBeGreaterThan(5);
  const paths = projectPaths();
  expect(walks.flatMap((walk) => faultsOf(walk, paths, (path) => readSource(path).text))).toEqual([]);
});

it('finds a function that is gone, a room entered twice and a step upwards', () => {
  const page = '## A\n- `src/calls/a.ts`: `one`: x\n- `src/gateway/b.ts`: `two`: x\n- `src/calls/a.ts`: `gone`: x\n';
  const texts: Record<string, string> = { 'src/calls/a.ts': 'export function one() {', 'src/gateway/b.ts': '  async two(x) {' };
  const [walk] = walksOf(page);
  expect(walk && faultsOf(walk, Object.keys(texts), (path) => texts[path] ?? '')).toEqual([
    'A: src/calls/a.ts has no gone',
    'A: calls is entered twice',
    'A: gateway lies above the room before it',
  ]);
});
