import { readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** The beginning of the names of files that hold the head of the chain in a database: one of PostgreSQL by its name, or SQLite in the home. */
export function headName(database: string | undefined): string {
  return database === undefined ? 'head-sqlite' : `head-postgres-${encodeURIComponent(database)}`;
}

export interface HeadFile {
  readonly name: string;
  /** The PostgreSQL database; undefined for SQLite in the home. */
  readonly database: string | undefined;
}

/** The files in a folder of keys that hold heads. */
export function headFilesIn(folder: string): HeadFile[] {
  return readdirSync(folder).flatMap((name) => {
    const [, kind, database] = /^head-(sqlite|postgres)-?(.*?)\.(?:json|newest)$/.exec(name) ?? [];
    if (kind === undefined) return [];
    return [{ name, database: kind === 'sqlite' ? undefined : decodeURIComponent(database ?? '') }];
  });
}

/** The chain has moved to another database: the head of where it was becomes that of where it is. Heads of other databases are of no use there. */
export function moveHeads(folder: string, isFrom: (file: HeadFile) => boolean, to: string | undefined): void {
  const files = headFilesIn(folder);
  for (const { name } of files.filter((file) => !isFrom(file))) rmSync(join(folder, name));
  for (const { name } of files.filter(isFrom)) {
    const moved = `${headName(to)}${name.slice(name.lastIndexOf('.'))}`;
    if (moved !== name) renameSync(join(folder, name), join(folder, moved));
  }
}
