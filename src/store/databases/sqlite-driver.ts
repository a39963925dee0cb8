import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { SqliteDatabase, SqliteStatement } from 'kysely';

function inputValue(value: unknown): SQLInputValue {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint' || value instanceof Uint8Array) return value;
  throw new TypeError(`SQLite cannot store a ${typeof value}`);
}

function statement(prepared: StatementSync): SqliteStatement {
  return {
    reader: prepared.columns().length > 0,
    all: (parameters) => prepared.all(...parameters.map(inputValue)),
    run: (parameters) => prepared.run(...parameters.map(inputValue)),
    iterate: (parameters) => Iterator.from(prepared.iterate(...parameters.map(inputValue))),
  };
}

/** `node:sqlite` in the shape Kysely's SQLite driver calls. */
export function kyselyDatabase(database: DatabaseSync): SqliteDatabase {
  return {
    prepare: (sql) => statement(database.prepare(sql)),
    close: () => database.close(),
  };
}
