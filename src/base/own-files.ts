import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseJsonObject } from './json.ts';

/** A clone runs its sources; the package has a build of them, in files that hold many modules each. */
export const RUNS_FROM_SOURCES = import.meta.url.endsWith('.ts');

/** `src` of a clone, `dist` of the package. This module lies one folder below it in both: `scripts/build.ts` sees to that. */
const MODULES = new URL('../', import.meta.url);

/** Address of a module of ours for `new Worker` and for processes that run it, by its path below `src` without the ending. */
export function ownModule(path: string): URL {
  return new URL(`${path}${RUNS_FROM_SOURCES ? '.ts' : '.js'}`, MODULES);
}

/** Path of a file or folder of the clone or the package; an empty name stands for the whole, with a separator at its end. */
export function ownFile(path: string): string {
  return fileURLToPath(new URL(`../${path}`, MODULES));
}

/** The version in package.json. */
export function packageVersion(): string {
  const manifest = parseJsonObject(readFileSync(ownFile('package.json'), 'utf8'));
  return String(manifest?.version ?? 'unknown');
}
