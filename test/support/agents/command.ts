import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { shellWord } from '../shell-word.ts';

/** Puts a fake agent into a folder under the name of a real one; the PATH that finds it. */
export function fakeCommand(folder: string, name: string, script = name): string {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, name);
  const program = fileURLToPath(new URL(`./${script}.ts`, import.meta.url));
  // Runs hand their environment on to the agent without the variables of Node; what is compiled once serves all tests.
  const cache = process.env.NODE_COMPILE_CACHE === undefined ? '' : `NODE_COMPILE_CACHE=${shellWord(process.env.NODE_COMPILE_CACHE)} `;
  writeFileSync(file, `#!/bin/sh\n${cache}exec ${shellWord(process.execPath)} ${shellWord(program)} "$@"\n`);
  chmodSync(file, 0o755);
  return `${folder}${delimiter}${process.env.PATH ?? ''}`;
}
