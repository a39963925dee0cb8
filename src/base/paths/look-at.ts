import { type Stats, statSync } from 'node:fs';

/** What stands at a path that somebody gave, or why the system shows nothing there. */
export type Sight = { readonly stats: Stats; readonly fault?: never } | { readonly stats?: never; readonly fault: string };

/** Looks at a path that a user wrote. `statSync` throws for all but the first of these reasons, whatever `throwIfNoEntry` says. */
export function lookAt(path: string): Sight {
  try {
    return { stats: statSync(path) };
  } catch (error) {
    return { fault: pathFault(error) };
  }
}

/** What the system says against a path, in words that follow the path or its name in a sentence. */
export function pathFault(error: unknown): string {
  if (!(error instanceof Error)) return `cannot be read: ${String(error)}`;
  const code = 'code' in error ? String(error.code) : '';
  return FAULTS[code] ?? `cannot be read: ${error.message}`;
}

const FAULTS: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'does not exist: something on the way to it is a file',
  EISDIR: 'is a folder, not a file',
  EACCES: 'may not be read by the user of this process',
  EPERM: 'may not be read by the user of this process',
  ENAMETOOLONG: 'is longer than the system lets a path be',
  ELOOP: 'leads in circles by its links',
  ERR_INVALID_ARG_VALUE: 'holds a NUL, which no path can',
};
