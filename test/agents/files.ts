import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Writes a file and the folders above it; only its owner reads it. */
export function put(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text, { mode: 0o600 });
}

/** What a file holds; nothing where there is none. */
export function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

/** Files anywhere below a folder, relative to it. */
function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1));
}

/** What every file below a folder holds, by digest. */
export function digests(folder: string): ReadonlyMap<string, string> {
  return new Map(
    filesIn(folder).map((file) => [
      file,
      createHash('sha256')
        .update(readFileSync(join(folder, file)))
        .digest('hex'),
    ]),
  );
}

/** Files below a folder that hold a text. */
export function filesWith(folder: string, text: string): string[] {
  return filesIn(folder).filter((file) => readFileSync(join(folder, file)).includes(text));
}
