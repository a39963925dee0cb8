import { globSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const root = fileURLToPath(new URL('../', import.meta.url));

/** Modules that somebody starts or imports by their path: the command, what package.json exports, and the program of a bare model. */
const ENTRIES = ['cli/main', 'client/client', 'node/client', 'node/contract', 'sidecar/sidecar', 'runtime/bare-model/main'];

/** Modules that a thread begins with. */
const THREADS = globSync('**/{*-thread,thread}.ts', { cwd: `${root}src` }).map((path) => path.slice(0, -'.ts'.length));

/**
 * Writes the JavaScript of `src` into a folder. The modules that are always loaded together come in one file: a server loads 800 of ours, and
 * one after the other they take two thirds of its start. A thread shares no module with the program that starts it, so it gets all of its own
 * in one file. Packages of others stay outside, where npm puts them.
 */
export async function buildProgram(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await write(folder, ENTRIES);
  for (const thread of THREADS) await write(folder, [thread]);
}

async function write(folder: string, entries: readonly string[]): Promise<void> {
  const bundle = await rolldown({
    input: Object.fromEntries(entries.map((path) => [path, `${root}src/${path}.ts`])),
    platform: 'node',
    external: /^[^./]/,
    // Modules that only set something up are kept, in their order.
    treeshake: false,
  });
  await bundle.write({
    dir: folder,
    entryFileNames: '[name].js',
    chunkFileNames: 'parts/[name]-[hash].js',
    // It finds other files by its own place, one folder below the whole, and so must never become a part of an entry that lies deeper.
    codeSplitting: { groups: [{ name: 'own-files', test: /src[\\/]base[\\/]own-files\.ts$/ }] },
  });
  await bundle.close();
}

if (import.meta.main) await buildProgram(`${root}dist`);
