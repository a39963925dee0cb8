import { posix } from 'node:path';
import { expect, it } from 'vitest';
import { importsOf } from './imports.ts';
import { type SourceFile, typescriptFiles } from './source-files.ts';

/** The packages and modules of Node that a file and everything it imports load, before anybody asks for more by a dynamic import. */
function loadedBy(start: string, files: readonly SourceFile[]): string[] {
  const texts = new Map(files.map(({ path, text }) => [path, text]));
  const seen = new Set<string>();
  const loaded = new Set<string>();
  const walk = (path: string): void => {
    if (seen.has(path)) return;
    seen.add(path);
    const fixed = (texts.get(path) ?? expect.fail(`there is no ${path}`)).replaceAll(/\bimport\(/g, 'later(');
    for (const { specifier, typeOnly } of importsOf(fixed)) {
      if (typeOnly) continue;
      if (specifier.startsWith('.')) walk(posix.join(posix.dirname(path), specifier));
      else loaded.add(specifier);
    }
  };
  walk(start);
  return [...loaded].sort();
}

function packagesOf(start: string, files: readonly SourceFile[]): string[] {
  const names = loadedBy(start, files).filter((specifier) => !specifier.startsWith('node:'));
  return [...new Set(names.map((specifier) => /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier))];
}

const sources = typescriptFiles('src');

/** Each of these costs every start milliseconds and megabytes: zod 14 MB in a thread, the price lists 20 MB. */
it('the thread that keeps receipts loads the database and nothing that checks input', () => {
  expect(packagesOf('src/receipts/keeper/keeper-thread.ts', sources)).toEqual(['canonicalize', 'kysely']);
});

it('a server loads what every call needs, and the rest with the first call that needs it', () => {
  expect(packagesOf('src/gateway/server.ts', sources)).toEqual([
    'canonicalize',
    'find-my-way',
    'kysely',
    'pino',
    'semver',
    'smol-toml',
    'zod',
  ]);
});

/** An import of `node:http` costs 28 ms of processor time and 13 MB, one of TLS 7 ms: `base/builtin` has both without that. */
it.each(['src/receipts/keeper/keeper-thread.ts', 'src/gateway/server.ts', 'src/cli/main.ts', 'src/runtime/bare-model/main.ts'])(
  '%s imports no module of Node that would bring more along than it uses',
  (start) => {
    const loaded = loadedBy(start, sources);
    for (const name of ['node:http', 'node:https', 'node:http2', 'node:tls']) expect(loaded).not.toContain(name);
  },
);
