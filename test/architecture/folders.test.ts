import { existsSync } from 'node:fs';
import { join, posix } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { importsOf } from './imports.ts';
import { KINDS, type Kind, placeOf } from './kinds.ts';
import { projectPaths, ROOT, readSource, type SourceFile } from './source-files.ts';

function idsOf(kind: Kind, paths: readonly string[]): string[] {
  const places = paths.map(placeOf).filter((place) => place?.kind === kind && place.isId);
  return [...new Set(places.flatMap((place) => place?.part ?? []))].sort();
}

/** Files that the kind asks for and an id does not have. */
function missingFiles(kind: Kind, paths: readonly string[]): string[] {
  const present = new Set(paths);
  return idsOf(kind, paths).flatMap((id) => kind.files.map((file) => `${kind.folder}/${id}/${file}`).filter((path) => !present.has(path)));
}

/** Ids whose wiring file the registry does not name. */
function unregistered(kind: Kind, paths: readonly string[], registry: SourceFile): string[] {
  const named = new Set(importsOf(registry.text).map(({ specifier }) => posix.join(kind.folder, specifier)));
  return idsOf(kind, paths).filter((id) => !named.has(`${kind.folder}/${id}/${kind.wiring}`));
}

/** The ids that the values of a module carry. Wire ids are snake_case where the contract says so, folders are always kebab-case. */
function declaredIds(module: object): string[] {
  return Object.values(module).flatMap((value: unknown) =>
    typeof value === 'object' && value !== null && 'id' in value && typeof value.id === 'string' ? [value.id.replaceAll('_', '-')] : [],
  );
}

describe.each(KINDS)('every id of $folder', (kind) => {
  const paths = projectPaths();

  it('has the files of its kind', () => {
    expect(missingFiles(kind, paths)).toEqual([]);
  });

  it('is named in the registry', () => {
    const registry = `${kind.folder}/index.ts`;
    if (idsOf(kind, paths).length === 0) return;
    expect(paths).toContain(registry);
    expect(unregistered(kind, paths, readSource(registry))).toEqual([]);
  });

  it('registers under the name of its folder', async () => {
    for (const id of idsOf(kind, paths)) {
      const wiring = join(ROOT, kind.folder, id, kind.wiring);
      if (!existsSync(wiring)) continue;
      const module: object = await import(pathToFileURL(wiring).href);
      expect(declaredIds(module), wiring).toEqual([id]);
    }
  });
});

/** Folders of `src` that a reader must know: not the rooms, which have their own table, nor those of one id, of fixtures or of a command. */
function innerFolders(paths: readonly string[]): string[] {
  const folders = paths.filter((path) => path.startsWith('src/')).map((path) => posix.dirname(path));
  const inner = folders.filter((folder) => folder.split('/').length > 2 && !UNLISTED.some((pattern) => pattern.test(`${folder}/`)));
  return [...new Set(inner)].filter((folder) => placeOf(`${folder}/x`)?.isId !== true || LISTED_BELOW_IDS.test(folder)).sort();
}

const UNLISTED = [/\/fixtures\//, /^src\/cli\/commands\/./, /^src\/engines\//];
const LISTED_BELOW_IDS = /^src\/dialects\/[^/]+\/./;

/** The rows that name a folder inside of a room. */
function documentedFolders(markdown: string): string[] {
  return [...markdown.matchAll(/^\| `([a-z-]+\/[a-z/-]+)` \|/gm)].map(([, folder]) => `src/${folder}`).sort();
}

it('ARCHITECTURE.md has a line for every folder of src, and for no other', () => {
  expect(documentedFolders(readSource('ARCHITECTURE.md').text)).toEqual(innerFolders(projectPaths()));
});

describe('the checkers', () => {
  const engines = KINDS.find(({ folder }) => folder === 'src/engines')!;
  const paths = [
    'src/engines/a/engine.ts',
    'src/engines/a/manifest.ts',
    'src/engines/b/engine.ts',
    'src/engines/openai-compatible/profiles.ts',
  ];

  it('find a missing file and leave folders that are no id alone', () => {
    expect(missingFiles(engines, [...paths, 'src/engines/index.ts', 'src/engines/b/fixtures/x/request.json'])).toEqual([
      'src/engines/b/manifest.ts',
    ]);
  });

  it('find an id that the registry does not name', () => {
    const registry = { path: 'src/engines/index.ts', text: "import { a } from './a/engine.ts'; // import { b } from './b/engine.ts'" };
    expect(unregistered(engines, paths, registry)).toEqual(['b']);
  });

  it('see the id a module declares', () => {
    expect(declaredIds({ currentTime: { id: 'current_time', tools: [] }, other: 3 })).toEqual(['current-time']);
  });
});
