import type * as Sqlite from 'node:sqlite';

/** The database that comes with Node. Node 22 warns that it is experimental on loading it; people who run this program can do nothing about it. */
function loaded(): typeof Sqlite {
  const { emitWarning } = process;
  process.emitWarning = (): void => undefined;
  try {
    return process.getBuiltinModule('node:sqlite');
  } finally {
    process.emitWarning = emitWarning;
  }
}

export type DatabaseSync = Sqlite.DatabaseSync;
export const { DatabaseSync, backup: copyDatabase } = loaded();
