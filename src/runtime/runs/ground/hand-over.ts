import { closeSync, constants, fchownSync, fstatSync, mkdirSync, openSync, readdirSync } from 'node:fs';

/** The user that an agent runs as. */
export interface Receiver {
  readonly uid: number;
  readonly gid: number;
}

/** Files of a run that this process writes lie less deep; an agent may have dug deeper. */
const MOST_DEPTH = 12;
const NOT_THROUGH_LINKS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Gives a folder and the files in it to the user that the agent runs as. Everything is held by a descriptor while it is given away:
 * another run of the same agent may be at work there, and could put a link to a file of the system in the place of one that was just
 * looked at. Links are left alone.
 */
export function handOver(path: string, receiver: Receiver, depth = MOST_DEPTH): void {
  if (depth === 0) return;
  give(path, constants.O_DIRECTORY, receiver, (folder) => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const inside = `${folder}/${entry.name}`;
      if (entry.isDirectory()) handOver(inside, receiver, depth - 1);
      else if (entry.isFile()) give(inside, 0, receiver);
    }
  });
}

/** Makes folders inside of one that is the receiver's, and gives it those that are new. Where the agent has put something else in their way, that stays. */
export function makeFoldersFor(path: string, [name, ...deeper]: readonly string[], receiver: Receiver): void {
  give(path, constants.O_DIRECTORY, receiver, (folder) => {
    if (name === undefined) return;
    mkdirUnlessThere(`${folder}/${name}`);
    makeFoldersFor(`${folder}/${name}`, deeper, receiver);
  });
}

/** Opens, gives away, and calls with a name that leads to the very same folder whatever is put in its place meanwhile. */
function give(path: string, flags: number, { uid, gid }: Receiver, inside: (folder: string) => void = () => undefined): void {
  const descriptor = openedUnlessOther(path, flags);
  if (descriptor === undefined) return;
  try {
    const found = fstatSync(descriptor);
    // A second name may be that of a file elsewhere.
    const isGiven = found.isDirectory() || (found.isFile() && found.nlink === 1);
    if (isGiven && found.uid !== uid) fchownSync(descriptor, uid, gid);
    inside(`/proc/self/fd/${descriptor}`);
  } finally {
    closeSync(descriptor);
  }
}

/** Error codes of the system for a path that is gone, has become a link or a file, or was closed to us by the agent. */
const OTHER: ReadonlySet<unknown> = new Set(['ENOENT', 'ELOOP', 'ENOTDIR', 'EACCES']);

/** Undefined for what is gone, or is no longer what it was. */
function openedUnlessOther(path: string, flags: number): number | undefined {
  try {
    return openSync(path, NOT_THROUGH_LINKS | flags);
  } catch (error) {
    if (OTHER.has(codeOf(error))) return undefined;
    throw error;
  }
}

/** Where the agent has closed the folder around it, it is not made. */
function mkdirUnlessThere(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (codeOf(error) !== 'EEXIST' && codeOf(error) !== 'EACCES') throw error;
  }
}

const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined);
