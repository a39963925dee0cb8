import { setTimeout as sleep } from 'node:timers/promises';
import { Kysely, sql } from 'kysely';
import { DatabaseSync } from '../../base/builtin/sqlite.ts';
import { migrate } from '../migrations.ts';
import type { Tables } from '../schema.ts';
import type { SqliteStore } from '../store.ts';
import { sqliteDialect } from './sqlite-dialect.ts';

/** How long a statement waits for another process's write before it fails with SQLITE_BUSY. */
const BUSY_TIMEOUT_MS = 5000;
/** How long a process waits at its start while another one makes or renews the tables: on a slow machine that takes many seconds. */
const START_TIMEOUT_MS = 60_000;
const SQLITE_BUSY = 5;

/**
 * WAL with synchronous=NORMAL. A commit is in the kernel's hands when it returns, so kill -9 loses nothing acknowledged.
 * The disk is forced only at checkpoints: a power loss may cost the commits of the last moments, never the file's consistency.
 * FULL would force the disk at every commit, on the thread that also relays streams.
 */
const PRAGMAS = 'pragma synchronous = normal; pragma foreign_keys = on;';

/**
 * SQLite moves rows from page to page as tables grow and, by default, leaves their bytes where they were. A row that is deleted later
 * would stand there still. Every connection that writes therefore clears the place of a row that it moves or deletes.
 */
export const WRITES_OVER_ROWS = 'pragma secure_delete = fast;';
/** Clears pages that are given up as well, which costs the writing of each of them. */
export const WRITES_OVER_ROWS_AND_PAGES = 'pragma secure_delete = on;';

/**
 * A receipt is a kilobyte or two: a page of 4 KB, the default, holds one or two and is written again for each. Only a new file takes
 * a page size. Checkpoints come every 16 MB: each writes the last pages of every table and index once more, and forces the disk.
 */
const PAGE_PRAGMAS = 'pragma page_size = 16384; pragma wal_autocheckpoint = 1000;';

/**
 * A checkpoint forces the disk and takes milliseconds, in the thread whose commit sets it off. Where another thread commits to the same
 * file all the time, the one that serves leaves checkpoints to it; should that one fall silent, they come every 64 MB all the same.
 */
const RARE_CHECKPOINTS = 'pragma wal_autocheckpoint = 4000;';

/** Switching a new file to WAL does not honour the busy timeout, so processes that create it together must try again. */
async function enterWal(database: DatabaseSync, deadline: number): Promise<void> {
  for (;;) {
    try {
      database.exec('pragma journal_mode = wal');
      return;
    } catch (error) {
      if (!isBusy(error) || Date.now() > deadline) throw error;
    }
    await sleep(10);
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY;
}

async function prepared(database: DatabaseSync, file: string, upTo: string | undefined): Promise<Kysely<Tables>> {
  database.exec(PAGE_PRAGMAS);
  await enterWal(database, Date.now() + START_TIMEOUT_MS);
  database.exec(PRAGMAS + WRITES_OVER_ROWS);
  const db = new Kysely<Tables>({ dialect: sqliteDialect(database) });
  await migrate(db, file, upTo);
  database.exec(`pragma busy_timeout = ${BUSY_TIMEOUT_MS}`);
  return db;
}

export interface SqliteOptions {
  /** Another thread makes the checkpoints. */
  readonly leavesCheckpoints?: boolean | undefined;
  /** The last step of the schema to take; all of them, unless told. */
  readonly upTo?: string | undefined;
}

export async function openSqlite(file: string, options: SqliteOptions = {}): Promise<Omit<SqliteStore, 'keySecret'>> {
  const database = new DatabaseSync(file, { timeout: START_TIMEOUT_MS });
  let db: Kysely<Tables>;
  try {
    db = await prepared(database, file, options.upTo);
    if (options.leavesCheckpoints === true) database.exec(RARE_CHECKPOINTS);
  } catch (error) {
    database.close();
    throw error;
  }
  // Kysely lends its only connection to one caller at a time, so inside the callback no transaction is open.
  const exclusive = <T>(work: () => T): Promise<T> => db.connection().execute(async () => work());
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    await exclusive(() => undefined);
    await db.destroy();
  };
  return {
    kind: 'sqlite',
    db,
    sqlite: database,
    exclusive,
    ping: async () => void (await sql`select 1`.execute(db)),
    close: () => (closing ??= close()),
  };
}
