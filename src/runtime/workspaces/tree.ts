import { createHash, hash } from 'node:crypto';
import { chmodSync, closeSync, type Dirent, lstatSync, openSync, readdirSync, readlinkSync, readSync, type Stats } from 'node:fs';

/** The entry at a path. */
export type TreeNode =
  | {
      readonly type: 'file';
      readonly sha256: string;
      readonly bytes: number;
      readonly executable: boolean;
      readonly setid?: true | undefined;
    }
  | { readonly type: 'link'; readonly target: string }
  | { readonly type: 'folder' }
  /**
   * A pipe, a socket or a device; with `hollow` a file that was not read, for so many holes were read before it; with `tooDeep` anything
   * whose path is longer than the system takes.
   */
  | { readonly type: 'special'; readonly hollow?: true | undefined; readonly tooDeep?: true | undefined };

/** A node and what tells that a file was not touched since: no program without privileges can set a change time. */
export interface Seen {
  readonly node: TreeNode;
  readonly stamp: string;
}

/**
 * Paths as bytes: a name need not be text. A key is the path below the root with slashes, a character per byte; `textOf` is what people
 * read, and `fileOf` what the system is given.
 */
export type PathKey = string;

export const textOf = (key: PathKey): string => Buffer.from(key, 'latin1').toString('utf8');
export const keyOf = (text: string): PathKey => Buffer.from(text, 'utf8').toString('latin1');
export const fileOf = (root: string, key: PathKey): Buffer => Buffer.concat([Buffer.from(`${root}/`), Buffer.from(key, 'latin1')]);
export const parentOf = (key: PathKey): PathKey => (key.includes('/') ? key.slice(0, key.lastIndexOf('/')) : '');
export const childOf = (folder: PathKey, { name }: Dirent<Buffer>): PathKey =>
  folder === '' ? name.toString('latin1') : `${folder}/${name.toString('latin1')}`;
export const nameOf = (key: PathKey): string => key.slice(key.lastIndexOf('/') + 1);

/** The path and those of the folders around it. */
export function pathsAround(path: string): string[] {
  const parts = path.split('/');
  return parts.map((_, at) => parts.slice(0, parts.length - at).join('/'));
}

const CHUNK = 1024 * 1024;
const SETID = 0o6000;
/** The unit that the system counts blocks in, whatever the disk's own is. */
const BLOCK = 512;

/** Holes take no disk, and yet as long to read as anything: a program makes terabytes of them in a moment. */
const MOST_HOLES = 4 * 1024 ** 3;

/** Bytes of a file that are on no disk. */
export const holesIn = ({ size, blocks }: Pick<Stats, 'size' | 'blocks'>): number => Math.max(0, size - blocks * BLOCK);

export const stampOf = ({ ino, size, ctimeMs }: Stats): string => `${ino} ${size} ${ctimeMs}`;

/** Whether a path is looked at, and for a folder whether what is in it is. */
export type Looks = (key: PathKey, isFolder: boolean) => boolean;

/** There is more in a folder than is looked at. */
export class TooLarge extends Error {}

/** How a tree is walked that an agent has left: it may have made any number of files, and closed some to everybody. */
export interface Walking {
  readonly mostFiles?: number;
  /** Opens to its owner, who is the user of this process, an entry that the owner may not read. */
  readonly opensClosed?: boolean;
}

/** Everything below a folder, parents first. Links are not followed. A file that `known` has with the same stamp is not read again. */
export function walkTree(
  root: string,
  looks: Looks,
  known: ReadonlyMap<PathKey, Seen> = new Map(),
  { mostFiles = Number.POSITIVE_INFINITY, opensClosed = false }: Walking = {},
): Map<PathKey, Seen> {
  const found = new Map<PathKey, Seen>();
  const opened = opensClosed ? openToOwner : () => undefined;
  let holes = 0;
  const reads = (stats: Stats, path: Buffer): boolean => {
    holes += holesIn(stats);
    opened(path, stats);
    return holes <= MOST_HOLES;
  };
  const open: PathKey[] = [''];
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    opened(fileOf(root, folder));
    for (const entry of readdirSync(fileOf(root, folder), { encoding: 'buffer', withFileTypes: true })) {
      const key = childOf(folder, entry);
      const seen = looks(key, entry.isDirectory()) ? seenAt(root, key, known.get(key), reads) : undefined;
      if (seen === undefined) continue;
      found.set(key, seen);
      if (seen.node.type === 'folder') open.push(key);
    }
    if (found.size > mostFiles) throw new TooLarge(`it has more than ${mostFiles} files`);
  }
  return found;
}

/** Folders can be made that no path leads to, one inside the other. What lies so deep is known by its name alone. */
const LONGEST_PATH = process.platform === 'linux' ? 4095 : 1023;
const TOO_DEEP: Seen = { node: { type: 'special', tooDeep: true }, stamp: '' };

/** The rights of folders are not part of the work, nor whether a file can be read. */
function openToOwner(path: Buffer, found: Stats | undefined = lookAt(path)): void {
  if (found === undefined || found.uid !== process.getuid?.()) return;
  const needed = found.isDirectory() ? 0o700 : found.isFile() ? 0o400 : 0;
  if ((found.mode & needed) !== needed) chmodSync(path, (found.mode & 0o7777) | needed);
}

/** Bytes that an entry counts for at least: disks hold only so many entries, also empty ones. */
const LEAST = 4096;

/** Bytes on the disk of everything below a folder, while somebody may be writing there. Links are not followed. */
export function diskOf(root: string): number {
  let bytes = 0;
  const open: PathKey[] = [''];
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    for (const entry of entriesIn(root, folder)) {
      const key = childOf(folder, entry);
      if (entry.isDirectory()) open.push(key);
      bytes += Math.max(LEAST, (lookAt(fileOf(root, key))?.blocks ?? 0) * BLOCK);
    }
  }
  return bytes;
}

/** A folder may vanish between two looks. */
export function entriesIn(root: string, folder: PathKey): Dirent<Buffer>[] {
  try {
    return readdirSync(fileOf(root, folder), { encoding: 'buffer', withFileTypes: true });
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR' || error.code === 'EACCES'))
      return [];
    throw error;
  }
}

/** Undefined when nothing is there, also when a folder on the way is none. */
export function lookAt(path: Buffer): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOTDIR') return undefined;
    throw error;
  }
}

/** The entry at a path now; undefined when there is none. */
export function seenAt(
  root: string,
  key: PathKey,
  known?: Seen,
  reads: (stats: Stats, path: Buffer) => boolean = () => true,
): Seen | undefined {
  const path = fileOf(root, key);
  if (path.length > LONGEST_PATH) return TOO_DEEP;
  const stats = lookAt(path);
  if (stats === undefined) return undefined;
  const stamp = stampOf(stats);
  if (stats.isDirectory()) return { node: { type: 'folder' }, stamp };
  if (stats.isSymbolicLink()) return { node: { type: 'link', target: readlinkSync(path, 'latin1') }, stamp };
  if (!stats.isFile()) return { node: { type: 'special' }, stamp };
  if (known?.node.type === 'file' && known.stamp === stamp) return known;
  if (!reads(stats, path)) return { node: { type: 'special', hollow: true }, stamp };
  return { node: fileNode(stats, digestOf(path, stats.size)), stamp };
}

export function fileNode({ size, mode }: Pick<Stats, 'size' | 'mode'>, sha256: string): TreeNode {
  return { type: 'file', sha256, bytes: size, executable: (mode & 0o100) !== 0, ...((mode & SETID) === 0 ? {} : { setid: true }) };
}

/** SHA-256 of a file, in pieces where it is large. */
export function digestOf(path: Buffer, size: number): string {
  const descriptor = openSync(path, 'r');
  try {
    const chunk = Buffer.allocUnsafe(Math.min(Math.max(size, 1), CHUNK));
    const first = readSync(descriptor, chunk);
    if (first === size && size <= CHUNK) return hash('sha256', chunk.subarray(0, first), 'hex');
    const digest = createHash('sha256').update(chunk.subarray(0, first));
    for (let read = readSync(descriptor, chunk); read > 0; read = readSync(descriptor, chunk)) digest.update(chunk.subarray(0, read));
    return digest.digest('hex');
  } finally {
    closeSync(descriptor);
  }
}

export function sameNode(a: TreeNode | undefined, b: TreeNode | undefined): boolean {
  if (a === undefined || b === undefined || a.type !== b.type) return a === b;
  if (a.type === 'file' && b.type === 'file') {
    return a.sha256 === b.sha256 && a.executable === b.executable && (a.setid === true) === (b.setid === true);
  }
  return a.type !== 'link' || b.type !== 'link' || a.target === b.target;
}
