import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a folder and those above it. Node's own recursive `mkdir` never returns where the system says ENOENT of a new folder whose parent
 * is there, as it does below `/proc`, which is the home of some service accounts.
 */
export function makeFolders(path: string, mode = 0o777): void {
  const parent = dirname(path);
  if (!existsSync(parent)) makeFolders(parent, mode);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    // It is there already, perhaps made by another process a moment ago.
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
}
