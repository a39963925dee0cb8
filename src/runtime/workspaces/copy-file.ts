import { createHash } from 'node:crypto';
import { chmodSync, closeSync, constants, copyFileSync, ftruncateSync, openSync, readSync, type Stats, writeSync } from 'node:fs';
import { holesIn } from './tree.ts';

const CHUNK = 1024 * 1024;
/** The smallest part that file systems leave out of a file. */
const HOLE = 4096;
const ZEROS = Buffer.alloc(CHUNK);

/**
 * Copies a file with these rights. The copy shares the blocks of the original where the file system can, and has holes where the original
 * has: 3 GiB of nothing take no disk in it either. Returns the digest where that was found on the way.
 */
export function copyWhole(from: Buffer, to: Buffer | string, stats: Stats, mode: number): string | undefined {
  const isHollow = holesIn(stats) > 0;
  if (!isHollow) copyFileSync(from, to, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
  const sha256 = !isHollow || clones(from, to) ? undefined : copyWithHoles(from, to);
  chmodSync(to, mode);
  return sha256;
}

/** Whether the copy has become the same blocks; if not, nothing is there. */
function clones(from: Buffer, to: Buffer | string): boolean {
  try {
    copyFileSync(from, to, constants.COPYFILE_FICLONE_FORCE | constants.COPYFILE_EXCL);
    return true;
  } catch {
    // Systems say in many ways that they cannot; any other fault comes again when the file is read and written.
    return false;
  }
}

/** Writes only what is not zero, and returns the digest. */
function copyWithHoles(from: Buffer, to: Buffer | string): string {
  const digest = createHash('sha256');
  const chunk = Buffer.allocUnsafe(CHUNK);
  const input = openSync(from, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const output = openSync(to, 'wx', 0o600);
    try {
      let at = 0;
      for (let read = readSync(input, chunk); read > 0; read = readSync(input, chunk)) {
        const part = chunk.subarray(0, read);
        digest.update(part);
        writeParts(output, part, at);
        at += read;
      }
      ftruncateSync(output, at);
    } finally {
      closeSync(output);
    }
  } finally {
    closeSync(input);
  }
  return digest.digest('hex');
}

function writeParts(output: number, part: Buffer, position: number): void {
  if (isZero(part)) return;
  let from = 0;
  for (let at = 0; at <= part.length; at += HOLE) {
    const isEnd = at + HOLE > part.length;
    if (!isEnd && !isZero(part.subarray(at, at + HOLE))) continue;
    const to = isEnd ? part.length : at;
    if (to > from) writeAll(output, part.subarray(from, to), position + from);
    from = at + HOLE;
  }
}

const isZero = (part: Buffer): boolean => part.equals(ZEROS.subarray(0, part.length));

/** A disk may take a part of what it is given. */
function writeAll(output: number, bytes: Buffer, position: number): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(output, bytes, done, bytes.length - done, position + done);
}
