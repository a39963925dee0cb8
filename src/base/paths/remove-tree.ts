import { chmodSync, lstatSync, type PathLike, readdirSync, renameSync, rmSync } from 'node:fs';

/** Other programs may be at the end of their work in it. */
const TRIES = 3;
/** Paths below this length can be looked at whatever lies in them; systems know none of more than 1,024 to 4,096 bytes. */
const LONGEST = 700;
const OPEN = 0o700;

/**
 * Removes a folder that a program has written, with everything in it. The program may have closed folders to everybody, which their owner
 * cannot remove then. Links are not followed.
 */
export function removeTree(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true, maxRetries: TRIES });
  } catch (error) {
    if (!isRefusal(error)) throw error;
    openFolders(Buffer.from(path));
    rmSync(path, { recursive: true, force: true, maxRetries: TRIES });
  }
}

/** Opens every folder to its owner. Those that lie too deep for their paths are brought up first. */
function openFolders(top: Buffer): void {
  let moved = 0;
  const open: Buffer[] = [top];
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    openFolder(folder);
    for (const entry of readdirSync(folder, { encoding: 'buffer', withFileTypes: true })) {
      if (!entry.isDirectory()) continue;
      const path = below(folder, entry.name);
      if (path.length <= top.length + LONGEST) {
        open.push(path);
        continue;
      }
      moved += 1;
      const place = below(top, Buffer.from(`.abp-removing-${moved}`));
      openFolder(path);
      renameSync(path, place);
      open.push(place);
    }
  }
}

const below = (folder: Buffer, name: Buffer): Buffer => Buffer.concat([folder, Buffer.from('/'), name]);

function openFolder(path: PathLike): void {
  const { mode } = lstatSync(path);
  if ((mode & OPEN) !== OPEN) chmodSync(path, OPEN);
}

function isRefusal(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'EACCES' || error.code === 'EPERM');
}
