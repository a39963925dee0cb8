import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open, realpath } from 'node:fs/promises';
import { isAbsolute, join, sep } from 'node:path';
import type { SidecarAccount } from '../../../adapters/adapter.ts';
import type { Artifact } from '../../../contract/receipts/parts.ts';

/** A sidecar may name as many as fit into a line; a receipt keeps these. */
export const MOST_ARTIFACTS = 500;
const LONGEST_NAME = 1024;
const LARGEST_READ = 64 * 1024 * 1024;
/** Of all together: the end of a run does not wait for gigabytes. */
const MOST_READ = 512 * 1024 * 1024;
const CHUNK = 1024 * 1024;

/**
 * The artefacts that a sidecar says it made. Only files inside the workspace are read for their digest: the path is the sidecar's word.
 * They are read in pieces, between which others have their turn.
 */
export async function toldArtifacts(
  { artifacts }: Pick<SidecarAccount, 'artifacts'>,
  root: string,
  most: number = MOST_READ,
): Promise<Artifact[]> {
  const told: Artifact[] = [];
  let left = most;
  for (const { kind, path } of artifacts.slice(0, MOST_ARTIFACTS)) {
    const read = await digestIn(root, path, Math.min(left, LARGEST_READ));
    left -= read?.bytes ?? 0;
    told.push({ kind: kind.slice(0, LONGEST_NAME), path: path.slice(0, LONGEST_NAME), sha256: read?.sha256 ?? null });
  }
  return told;
}

interface Read {
  readonly sha256: string;
  readonly bytes: number;
}

async function digestIn(root: string, path: string, most: number): Promise<Read | undefined> {
  if (isAbsolute(path) || path.includes('\0')) return undefined;
  try {
    const [top, file] = [await realpath(root), await realpath(join(root, path))];
    if (!file.startsWith(`${top}${sep}`)) return undefined;
    const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const stats = await handle.stat();
      return stats.isFile() && stats.size <= most ? await digestOf(handle, most) : undefined;
    } finally {
      await handle.close();
    }
  } catch {
    // It names a file that is not there, or not for us to read.
    return undefined;
  }
}

/** Undefined for a file that grows beyond the limit while it is read. */
async function digestOf(handle: FileHandle, most: number): Promise<Read | undefined> {
  const digest = createHash('sha256');
  const chunk = Buffer.allocUnsafe(CHUNK);
  let bytes = 0;
  for (;;) {
    const { bytesRead } = await handle.read(chunk, 0, CHUNK, bytes);
    if (bytesRead === 0) return { sha256: digest.digest('hex'), bytes };
    bytes += bytesRead;
    if (bytes > most) return undefined;
    digest.update(chunk.subarray(0, bytesRead));
  }
}
