import { AbpError } from '../../contract/errors.ts';
import { MIGRATIONS } from '../migrations.ts';
import type { Row } from './snapshot.ts';

/** A database that gets the rows of a backup, all of them or none. */
export interface RestoreTarget {
  /** The name of the PostgreSQL database; undefined for SQLite. */
  readonly database: string | undefined;
  insert(table: string, columns: readonly string[], rows: readonly Row[]): Promise<void>;
  /** Commits, and takes the steps of the schema that the backup did not know. */
  finish(): Promise<void>;
  /** Leaves nothing of the rows. */
  abort(): Promise<void>;
}

/** The step of the schema that a backup was made at. Throws where this version does not know it. */
export function stepOf(migrations: readonly string[]): string {
  const unknown = migrations.filter((name) => !Object.hasOwn(MIGRATIONS, name));
  if (unknown.length > 0)
    throw new AbpError(
      'conflict',
      `the backup was made by a newer version of abp (its database has ${unknown.join(', ')})`,
      { unknown },
      'Restore it with that version, or a newer one.',
    );
  const last = migrations.at(-1);
  if (last === undefined) throw new AbpError('invalid_request', 'the backup holds no database of abp');
  return last;
}
