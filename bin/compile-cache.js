// Lets Node keep what it has compiled, so that every start but the first is quick. Node's own choice of a folder has a name that anybody can
// guess in a place where everybody may write: another user of the machine could lay compiled code there, and we would run it. Ours must belong
// to us alone; where it does not, nothing is kept.
import { lstatSync, mkdirSync } from 'node:fs';
import module from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

function ownFolder() {
  const uid = process.getuid?.();
  const folder = join(tmpdir(), uid === undefined ? 'abp-compiled' : `abp-compiled-${uid}`);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const found = lstatSync(folder);
    return found.isDirectory() && (uid === undefined || (found.uid === uid && (found.mode & 0o077) === 0)) ? folder : undefined;
  } catch {
    // A place where nothing can be written: everything is compiled at each start.
    return undefined;
  }
}

/** Node has begun by itself where its own variable names a folder. */
if (process.env.NODE_COMPILE_CACHE === undefined) {
  const folder = ownFolder();
  if (folder !== undefined) module.enableCompileCache?.(folder);
}
