import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Puts a fake agent into a folder under the name of a real one; the PATH that finds it. */
export function fakeCommand(folder: string, name: string, script = name): string {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, name);
  writeFileSync(file, `#!/bin/sh\nexec "${process.execPath}" "${fileURLToPath(new URL(`./${script}.ts`, import.meta.url))}" "$@"\n`);
  chmodSync(file, 0o755);
  return `${folder}${delimiter}${process.env.PATH ?? ''}`;
}
