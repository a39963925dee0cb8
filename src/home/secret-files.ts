import { realpathSync } from 'node:fs';

/** Files from which this process has read secrets; none is forgotten, for what a file held once it may hold again. */
const files = new Set<string>();

/** Remembers a file that holds a secret of this installation, so that no room shows it. */
export function noteSecretFile(path: string): void {
  files.add(realPathOf(path));
}

/** The real paths of files with secrets of this installation: keys, and a configuration that holds one in plain. */
export function secretFiles(): readonly string[] {
  return [...files];
}

/** A file that is not there (any more) keeps the name by which it is asked for. */
function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if (error instanceof Error && 'code' in error) return path;
    throw error;
  }
}
