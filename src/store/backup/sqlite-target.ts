import type { StatementSync } from 'node:sqlite';
import { openSqlite } from '../databases/sqlite.ts';
import { quoted, type Row } from './snapshot.ts';
import type { RestoreTarget } from './target.ts';

/** A new SQLite file with the schema of the step. */
export async function sqliteTarget(file: string, step: string): Promise<RestoreTarget> {
  const { sqlite, close } = await openSqlite(file, { upTo: step });
  // Parents come first in a backup, but nothing is gained by asking for every row; they are asked for all at once at the end.
  sqlite.exec('pragma foreign_keys = off; begin immediate');
  const statements = new Map<string, StatementSync>();
  const statementOf = (table: string, columns: readonly string[]): StatementSync => {
    const known = statements.get(table);
    if (known !== undefined) return known;
    // A step may have put rows of its own there.
    sqlite.exec(`delete from ${quoted(table)}`);
    const made = sqlite.prepare(
      `insert into ${quoted(table)} (${columns.map(quoted).join(', ')}) values (${columns.map(() => '?').join(', ')})`,
    );
    statements.set(table, made);
    return made;
  };
  return {
    database: undefined,
    insert: async (table: string, columns: readonly string[], rows: readonly Row[]) => {
      const statement = statementOf(table, columns);
      for (const row of rows) statement.run(...row);
    },
    finish: async () => {
      const orphan = sqlite.prepare('pragma foreign_key_check').get();
      if (orphan !== undefined) throw new Error(`a row of ${String(orphan.table)} refers to one that the backup does not have`);
      sqlite.exec('commit');
      await close();
      await (await openSqlite(file)).close();
    },
    abort: close,
  };
}
