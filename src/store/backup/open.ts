import type { Snapshot } from './snapshot.ts';
import { sqliteSnapshot } from './sqlite-snapshot.ts';
import { sqliteTarget } from './sqlite-target.ts';
import { type RestoreTarget, stepOf } from './target.ts';

/** Where a home keeps its rows: in a PostgreSQL database, or in a file. */
export interface DatabasePlace {
  readonly url: string | undefined;
  readonly file: string;
}

/** The database of a home at this moment. */
export async function openSnapshot({ url, file }: DatabasePlace): Promise<Snapshot> {
  if (url === undefined) return sqliteSnapshot(file);
  // Loaded on demand: a home with SQLite never pays for pg.
  const { postgresSnapshot } = await import('./postgres-snapshot.ts');
  return await postgresSnapshot(url);
}

export interface RestoreOrder {
  /** The steps of the schema that the backup has taken. */
  readonly migrations: readonly string[];
  readonly tables: readonly string[];
  readonly force: boolean;
}

/** A database for the rows of a backup. The two kinds hold the same columns, so that a backup of one can be restored to the other. */
export async function openTarget({ url, file }: DatabasePlace, { migrations, tables, force }: RestoreOrder): Promise<RestoreTarget> {
  const step = stepOf(migrations);
  if (url === undefined) return await sqliteTarget(file, step);
  const { postgresTarget } = await import('./postgres-target.ts');
  return await postgresTarget({ url, step, tables, force });
}
