import { existsSync, realpathSync } from 'node:fs';
import { SYSTEM_PATHS } from './bubblewrap.ts';
import { isWithin, type Shown, shownAsIs } from './room.ts';

/**
 * An empty file in the place of each of these that a room would show, by every name that it has there. `files` are real paths; what they
 * hold is nothing that a confined program may read, wherever somebody keeps it.
 */
export function masksFor(files: readonly string[], places: readonly Shown[], empty: string): Shown[] {
  const around = [...SYSTEM_PATHS.filter((path) => existsSync(path)).map((path) => shownAsIs(path)), ...places];
  return around.flatMap(({ source, at }) => {
    const real = existsSync(source) ? realpathSync(source) : source;
    const shown = files.filter((file) => isWithin(file, real) && existsSync(file));
    return shown.map((file) => ({ source: empty, at: `${at}${file.slice(real.length)}`, writable: false }));
  });
}
