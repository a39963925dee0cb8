import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '../../gateway/config.ts';
import { headFilesIn } from '../../receipts/seal/head-files.ts';
import { sealKeysFolder } from '../../receipts/seal/seal-keys.ts';
import type { Context } from '../command.ts';
import { withConfig } from '../config.ts';
import { CliError } from '../failure.ts';

/** The address of the database that the configuration names; undefined for SQLite in the home. */
export async function databaseUrl({ io, configPath, homePath }: Context): Promise<string | undefined> {
  const { config } = await withConfig(() => loadConfig({ env: io.env, homePath, ...(configPath !== undefined && { path: configPath }) }));
  return config.database.url;
}

/**
 * Throws where this command would look at another database than the server of the home last used: a server may have been started with
 * a variable that this shell does not have. The home keeps the head of its chain for each database, and the newest tells.
 */
export function assertDatabaseInUse(home: string, url: string | undefined): void {
  const newest = heads(home).toSorted((a, b) => b.at - a.at)[0];
  if (newest === undefined || (newest.database === undefined) === (url === undefined)) return;
  const used = newest.database === undefined ? 'SQLite in the home' : `the PostgreSQL database "${newest.database}"`;
  throw new CliError(
    'config',
    `the server of ${home} last used ${used}, and this command would look at ${url === undefined ? 'SQLite' : 'PostgreSQL'}`,
    {
      hint: 'Give this command the configuration of the server: ABP_DATABASE_URL, or --config with database.url.',
    },
  );
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
