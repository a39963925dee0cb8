import { type FSWatcher, watch } from 'node:fs';
import { basename, dirname } from 'node:path';

/** Editors write a file in several steps. */
const QUIET_MS = 200;

/** Calls back when a file has changed, also where an editor puts a new one in its place. */
export function watchFile(file: string, onChange: () => void): Pick<FSWatcher, 'close'> {
  let timer: NodeJS.Timeout | undefined;
  const watcher = watch(dirname(file), { persistent: false }, (_event, name) => {
    if (name !== null && name !== basename(file)) return;
    clearTimeout(timer);
    timer = setTimeout(onChange, QUIET_MS).unref();
  });
  return {
    close: () => {
      clearTimeout(timer);
      watcher.close();
    },
  };
}
