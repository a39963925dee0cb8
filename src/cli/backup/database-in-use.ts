import { loadConfig } from '../../gateway/config.ts';
import { databaseWord, lastDatabase } from '../../receipts/seal/last-database.ts';
import type { Context } from '../command.ts';
import { withConfig } from '../config.ts';
import { CliError } from '../failure.ts';

/** The address of the database that the configuration names; undefined for SQLite in the home. */
export async function databaseUrl({ io, configPath, homePath }: Context): Promise<string | undefined> {
  const { config } = await withConfig(() => loadConfig({ env: io.env, homePath, ...(configPath !== undefined && { path: configPath }) }));
  return config.database.url;
}

const HINT = 'Give this command the configuration of the server: ABP_DATABASE_URL, or --config with database.url.';

/** Throws where this command would look at another database than the server of the home last used. */
export function assertDatabaseInUse(home: string, url: string | undefined): void {
  const fault = otherDatabase(home, url);
  if (fault !== undefined) throw new CliError('config', fault, { hint: HINT });
}

/** Says so to people, where nothing is lost by a look at the wrong one but a wrong answer. */
export function warnOfOtherDatabase({ io, output }: Pick<Context, 'io' | 'output'>, home: string, url: string | undefined): void {
  const fault = otherDatabase(home, url);
  if (fault !== undefined) io.stderr.write(`${output.paint.warn('note:')} ${fault}. ${HINT}\n`);
}

function otherDatabase(home: string, url: string | undefined): string | undefined {
  const used = lastDatabase(home, url);
  return used && `the server of ${home} last used ${used}, and this command would look at ${databaseWord(url)}`;
}
