import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConsoleBuild } from '../../src/gateway/console/console-build.ts';

/** Compressed bytes of script that any page may need before it is drawn; what is loaded later, such as an editor, does not count. */
const MOST_SCRIPT = 200_000;
const MOST_STYLE = 20_000;
/** Bytes of typefaces before the first picture. */
const MOST_FACES = 60_000;
const PAGES = ['home', 'runs', 'run', 'compare', 'playground', 'matrix', 'agents', 'coding', 'usage', 'settings'];

/** A part of the build, as the manifest of Vite lists it. */
interface Chunk {
  readonly file: string;
  readonly isEntry?: boolean;
  readonly imports?: readonly string[];
  readonly css?: readonly string[];
}

const home = mkdtempSync(join(tmpdir(), 'abp-bytes-'));
let folder: string;
let manifest: Readonly<Record<string, Chunk>>;

beforeAll(async () => {
  folder = await new ConsoleBuild(join(import.meta.dirname, '..', '..'), home).folder(() => undefined);
  manifest = JSON.parse(readFileSync(join(folder, '.vite', 'manifest.json'), 'utf8'));
});
afterAll(() => rmSync(home, { recursive: true }));

/** A chunk and everything that it imports before it runs. */
function withImports(name: string, seen = new Set<string>()): ReadonlySet<string> {
  if (seen.has(name)) return seen;
  seen.add(name);
  for (const next of manifest[name]?.imports ?? []) withImports(next, seen);
  return seen;
}

const packed = (files: Iterable<string>): number =>
  [...new Set(files)].reduce((sum, file) => sum + gzipSync(readFileSync(join(folder, file))).length, 0);

describe.each(PAGES)('the page %s', (page) => {
  const chunks = (): Chunk[] => {
    const entries = Object.keys(manifest).filter((name) => manifest[name]?.isEntry === true);
    const own = `src/pages/${page}/page.tsx`;
    expect(manifest[own], own).toBeDefined();
    return [...new Set([...entries, own].flatMap((name) => [...withImports(name)]))].flatMap((name) => manifest[name] ?? []);
  };

  it('needs at most 200 kB of script before it is drawn', () => {
    expect(
      packed(
        chunks()
          .map(({ file }) => file)
          .filter((file) => file.endsWith('.js')),
      ),
    ).toBeLessThan(MOST_SCRIPT);
  });

  it('needs at most 20 kB of styles', () => {
    expect(packed(chunks().flatMap(({ css = [] }) => css))).toBeLessThan(MOST_STYLE);
  });
});

it('loads with the page the regular faces alone, at most 60 kB of them', () => {
  const asked = [...readFileSync(join(folder, 'index.html'), 'utf8').matchAll(/rel="preload" href="([^"]+\.woff2)"/g)].map(
    ([, path = '']) => path,
  );
  expect(asked.map((path) => path.replace(/-[\w-]{8}\.woff2$/, ''))).toEqual([
    '/assets/ibm-plex-sans-latin-400-normal',
    '/assets/ibm-plex-mono-latin-400-normal',
  ]);
  expect(asked.reduce((sum, path) => sum + readFileSync(join(folder, path)).length, 0)).toBeLessThan(MOST_FACES);
});
