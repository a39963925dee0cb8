import { existsSync } from 'node:fs';
import { processFolders } from '../../home/home.ts';
import { type HeadFile, headFilesIn, moveHeads } from '../../receipts/seal/head-files.ts';
import { sealKeysFolder } from '../../receipts/seal/seal-keys.ts';
import type { Manifest } from './format.ts';

/**
 * The files of a home keep the head of its chain for each database that the home has had. Those of a restored home are of the database that
 * was restored into: what the home knew of the backed-up one holds there, and of others nothing does.
 */
export function takeHeads(home: string, manifest: Manifest, to: string | undefined): void {
  for (const path of processFolders(home).values()) {
    const folder = sealKeysFolder(path);
    if (existsSync(folder)) moveHeads(folder, fromThat(manifest, headFilesIn(folder)), to);
  }
}

/** Backups of earlier versions do not name the PostgreSQL database: it is known where the home has had one alone. */
function fromThat({ database: kind, database_name: name }: Manifest, files: readonly HeadFile[]): (file: HeadFile) => boolean {
  if (kind === 'sqlite') return ({ database }) => database === undefined;
  const had = [...new Set(files.flatMap(({ database }) => database ?? []))];
  const known = name ?? (had.length === 1 ? had[0] : undefined);
  return ({ database }) => database !== undefined && database === known;
}
