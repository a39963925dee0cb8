import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  SqliteAdapter,
  type SqliteDatabase,
  SqliteDriver,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type SqliteStatement,
} from 'kysely';

/**
 * Transactions take the write lock when they begin. A deferred one that reads first and writes later fails at once with
 * SQLITE_BUSY when another process wrote in between, whatever the busy timeout is.
 */
class ImmediateDriver extends SqliteDriver {
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin immediate'));
  }
}

/**
 * SQLite rolls DDL back like anything else. Saying so makes the migrator run in one transaction, which here is immediate:
 * two processes that migrate at once take turns, and a killed one leaves nothing half done.
 */
class TransactionalAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

export function sqliteDialect(database: DatabaseSync): Dialect {
  return {
    createAdapter: () => new TransactionalAdapter(),
    createDriver: () => new ImmediateDriver({ database: kyselyDatabase(database) }),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
}

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

/** Queries of as many texts are kept prepared; lists of different lengths make texts of their own. */
const MOST_KEPT = 100;

/**
 * `node:sqlite` in the shape Kysely's SQLite driver calls. To prepare a query and to ask what columns it has often takes longer than to run
 * it, so one whose text comes again is prepared already. SQLite itself sees when tables have changed since, and the driver lends its
 * connection to one query at a time.
 */
function kyselyDatabase(database: DatabaseSync): SqliteDatabase {
  const kept = new Map<string, SqliteStatement>();
  return {
    prepare: (sql) => {
      const known = kept.get(sql);
      if (known !== undefined) return known;
      const made = statement(database.prepare(sql));
      if (kept.size >= MOST_KEPT) kept.clear();
      kept.set(sql, made);
      return made;
    },
    close: () => database.close(),
  };
}
