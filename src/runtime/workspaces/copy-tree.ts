import { hash } from 'node:crypto';
import {
  chownSync,
  closeSync,
  constants,
  type Dirent,
  fchownSync,
  fstatSync,
  futimesSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  type Stats,
  symlinkSync,
  utimesSync,
  writeSync,
} from 'node:fs';
import { copyWhole } from './copy-file.ts';
import { childOf, digestOf, fileNode, fileOf, type Looks, type PathKey, type Seen, stampOf, TooLarge } from './tree.ts';

export interface CopyLimits {
  readonly files: number;
  readonly bytes: number;
}

export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** Files up to this are read once, for their digest and their copy. */
const SMALL = 256 * 1024;

export interface Copying {
  readonly source: string;
  readonly target: string;
  readonly looks: Looks;
  readonly limits: CopyLimits;
  /** Whom the copies belong to, where that is not this process. */
  readonly owner?: Owner | undefined;
}

/**
 * Copies a folder with everything that `looks` at, and returns what was copied by the digests of the contents and the stamps of the
 * copies. Links are copied as links; pipes, sockets and devices are not. Set-id bits are lost.
 */
export function copyTree(copying: Copying): Map<PathKey, Seen> {
  const { source, limits, looks } = copying;
  const copied = new Map<PathKey, Seen>();
  const small = Buffer.allocUnsafe(SMALL);
  let bytes = 0;
  const open: PathKey[] = [''];
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    for (const entry of unlessGone(folder, () => readdirSync(fileOf(source, folder), { encoding: 'buffer', withFileTypes: true })) ?? []) {
      const key = childOf(folder, entry);
      const seen = looks(key, entry.isDirectory()) ? copyEntry(copying, key, entry, small) : undefined;
      if (seen === undefined) continue;
      copied.set(key, seen);
      if (seen.node.type === 'folder') open.push(key);
      bytes += bytesOf(seen);
      assertWithin(limits, copied.size, bytes);
    }
  }
  return copied;
}

/** People and programs work in a folder while it is copied: what they remove meanwhile is not in the copy. Undefined then. */
function unlessGone<T>(key: PathKey, look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    if (key !== '' && error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

const bytesOf = ({ node }: Seen): number => (node.type === 'file' ? node.bytes : 0);

function assertWithin(limits: CopyLimits, files: number, bytes: number): void {
  if (files > limits.files) throw new TooLarge(`it has more than ${limits.files} files`);
  if (bytes > limits.bytes) throw new TooLarge(`it has more than ${limits.bytes} bytes`);
}

function copyEntry({ source, target, owner }: Copying, key: PathKey, entry: Dirent<Buffer>, small: Buffer): Seen | undefined {
  const [from, to] = [fileOf(source, key), fileOf(target, key)];
  if (entry.isDirectory()) {
    mkdirSync(to, { mode: 0o755 });
    if (owner !== undefined) chownSync(to, owner.uid, owner.gid);
    return { node: { type: 'folder' }, stamp: '' };
  }
  if (entry.isSymbolicLink()) {
    const link = unlessGone(key, () => readlinkSync(from, 'buffer'));
    if (link === undefined) return undefined;
    symlinkSync(link, to);
    if (owner !== undefined) lchownSync(to, owner.uid, owner.gid);
    return { node: { type: 'link', target: link.toString('latin1') }, stamp: '' };
  }
  const input = entry.isFile() ? unlessGone(key, () => openSync(from, constants.O_RDONLY | constants.O_NOFOLLOW)) : undefined;
  if (input === undefined) return undefined;
  try {
    const stats = fstatSync(input);
    const read = stats.size < SMALL ? readSync(input, small) : SMALL;
    return read < SMALL ? copySmall(to, small.subarray(0, read), stats, owner) : copyLarge(from, to, stats, owner);
  } finally {
    closeSync(input);
  }
}

const modeOf = (mode: number): number => 0o600 | (mode & 0o777);

function copySmall(to: Buffer, bytes: Buffer, stats: Stats, owner: Owner | undefined): Seen {
  const output = openSync(to, 'wx', modeOf(stats.mode));
  try {
    if (bytes.length > 0) writeSync(output, bytes);
    futimesSync(output, stats.atime, stats.mtime);
    if (owner !== undefined) fchownSync(output, owner.uid, owner.gid);
    const made = fstatSync(output);
    return { node: fileNode({ size: bytes.length, mode: stats.mode & 0o777 }, hash('sha256', bytes, 'hex')), stamp: stampOf(made) };
  } finally {
    closeSync(output);
  }
}

function copyLarge(from: Buffer, to: Buffer, stats: Stats, owner: Owner | undefined): Seen {
  const sha256 = copyWhole(from, to, stats, modeOf(stats.mode));
  utimesSync(to, stats.atime, stats.mtime);
  if (owner !== undefined) chownSync(to, owner.uid, owner.gid);
  const made = lstatSync(to);
  return { node: fileNode({ size: made.size, mode: stats.mode & 0o777 }, sha256 ?? digestOf(to, made.size)), stamp: stampOf(made) };
}
