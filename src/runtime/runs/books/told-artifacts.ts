import { lstatSync, realpathSync } from 'node:fs';
import { isAbsolute, join, sep } from 'node:path';
import type { SidecarAccount } from '../../../adapters/adapter.ts';
import type { Artifact } from '../../../contract/receipts/parts.ts';
import { digestOf } from '../../workspaces/tree.ts';

/** A sidecar may name as many as fit into a line; a receipt keeps these. */
const MOST = 500;
const LONGEST_NAME = 1024;
const LARGEST_READ = 64 * 1024 * 1024;

/** The artefacts that a sidecar says it made. Only files inside the workspace are read for their digest: the path is the sidecar's word. */
export function toldArtifacts({ artifacts }: SidecarAccount, root: string): Artifact[] {
  return artifacts.slice(0, MOST).map(({ kind, path }) => ({
    kind: kind.slice(0, LONGEST_NAME),
    path: path.slice(0, LONGEST_NAME),
    sha256: digestIn(root, path) ?? null,
  }));
}

function digestIn(root: string, path: string): string | undefined {
  if (isAbsolute(path) || path.includes('\0')) return undefined;
  try {
    const [top, file] = [realpathSync(root), realpathSync(join(root, path))];
    const stats = lstatSync(file);
    if (!file.startsWith(`${top}${sep}`) || !stats.isFile() || stats.size > LARGEST_READ) return undefined;
    return digestOf(Buffer.from(file), stats.size);
  } catch {
    // It names a file that is not there, or not for us to read.
    return undefined;
  }
}
