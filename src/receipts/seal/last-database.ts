import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { headFilesIn } from './head-files.ts';
import { sealKeysFolder } from './seal-keys.ts';

/**
 * The database that the server of a home last used, in words, where it is of another kind than the one at this address: a server may be
 * started with a variable that a shell does not have, or without it. The home keeps the head of its chain for each database, and the newest
 * tells.
 */
export function lastDatabase(home: string, url: string | undefined): string | undefined {
  const newest = heads(home).toSorted((a, b) => b.at - a.at)[0];
  if (newest === undefined || (newest.database === undefined) === (url === undefined)) return undefined;
  return newest.database === undefined ? 'SQLite in the home' : `the PostgreSQL database "${newest.database}"`;
}

export function databaseWord(url: string | undefined): string {
  return url === undefined ? 'SQLite' : 'PostgreSQL';
}

function heads(home: string): { readonly database: string | undefined; readonly at: number }[] {
  const folder = sealKeysFolder(home);
  const files = readdirSync(home).includes('seal-keys') ? headFilesIn(folder) : [];
  return files.flatMap(({ name, database }) => {
    const at = statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs;
    // It may have been replaced a moment ago.
    return at === undefined ? [] : [{ database, at }];
  });
}
