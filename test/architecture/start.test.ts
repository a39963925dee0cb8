import { posix } from 'node:path';
import { expect, it } from 'vitest';
import { importsOf } from './imports.ts';
import { type SourceFile, typescriptFiles } from './source-files.ts';

/** The packages that a file and everything it imports load, before anybody asks for more by a dynamic import. */
function packagesOf(start: string, files: readonly SourceFile[]): string[] {
  const texts = new Map(files.map(({ path, text }) => [path, text]));
  const seen = new Set<string>();
  const packages = new Set<string>();
  const walk = (path: string): void => {
    if (seen.has(path)) return;
    seen.add(path);
    const fixed = (texts.get(path) ?? '').replaceAll(/\bimport\(/g, 'later(');
    for (const { specifier, typeOnly } of importsOf(fixed)) {
      if (typeOnly) continue;
      if (specifier.startsWith('.')) walk(posix.join(posix.dirname(path), specifier));
      else if (!specifier.startsWith('node:')) packages.add(/^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier);
    }
  };
  walk(start);
  expect(seen.size).toBeGreaterThan(10);
  return [...packages].sort();
}

/** Each of these costs every start milliseconds and megabytes: zod 14 MB in a thread, the price lists 20 MB. */
it('the thread that keeps receipts loads the database and nothing that checks input', () => {
  expect(packagesOf('src/receipts/keeper/keeper-thread.ts', typescriptFiles('src'))).toEqual(['canonicalize', 'kysely']);
});

it('a server loads what every call needs, and the rest with the first call that needs it', () => {
  expect(packagesOf('src/gateway/server.ts', typescriptFiles('src'))).toEqual([
    'canonicalize',
    'find-my-way',
    'kysely',
    'pino',
    'semver',
    'smol-toml',
    'zod',
  ]);
});
