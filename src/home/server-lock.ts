import { existsSync, rmSync } from 'node:fs';
import { DatabaseSync } from '../base/builtin/sqlite.ts';
import { AbpError } from '../contract/errors.ts';
import { readAddress } from './address.ts';

/** Held until released or until the process ends in any way: the lock is the kernel's, so kill -9 frees it too. */
export interface ServerLock {
  release(): void;
}

const SQLITE_BUSY = 5;
/** Long enough for a process that only looks whether the lock is taken to be gone again. */
const LOCK_TIMEOUT_MS = 500;

/** Keeps locks from being collected with an object that nobody holds on to. */
const held = new Set<DatabaseSync>();

/** Runs a statement that needs the lock; undefined when another process has it. */
function tryLock(file: string, begin: string, timeout: number): DatabaseSync | undefined {
  // The file must only ever be opened by SQLite: closing any other descriptor of it would drop the process's lock.
  const database = new DatabaseSync(file, { timeout });
  try {
    database.exec(begin);
    return database;
  } catch (error) {
    database.close();
    if (error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY) return undefined;
    throw error;
  }
}

function occupied(addressFile: string): AbpError {
  const address = readAddress(addressFile);
  const message =
    address === undefined
      ? 'another server is starting on this home; stop it or set ABP_HOME'
      : `another server (pid ${address.pid}) already serves this home at ${address.url}; stop it or set ABP_HOME`;
  const hint = 'Commands find that server by themselves; --home gives this one a folder of its own.';
  return new AbpError('conflict', message, address === undefined ? {} : { pid: address.pid, url: address.url }, hint);
}

/** A lock that some processes of a home take in turn, in a file of its own; undefined while another has it. */
export function tryFileLock(file: string): ServerLock | undefined {
  const database = tryLock(file, 'begin exclusive', 0);
  if (database === undefined) return undefined;
  held.add(database);
  return lockOf(database);
}

const lockOf = (database: DatabaseSync): ServerLock => ({
  release: () => {
    if (held.delete(database)) database.close();
  },
});

export function lockServer(lockFile: string, addressFile: string): ServerLock {
  const database = tryLock(lockFile, 'begin exclusive', LOCK_TIMEOUT_MS);
  if (database === undefined) throw occupied(addressFile);
  held.add(database);
  // Left by a server that was killed.
  rmSync(addressFile, { force: true });
  return lockOf(database);
}

/**
 * Whether a live process holds the lock. The address file alone cannot tell: after a kill it names a port that anyone may have taken
 * since, and a client would hand that process the token.
 */
export function isServed(lockFile: string): boolean {
  if (!existsSync(lockFile)) return false;
  const database = tryLock(lockFile, 'select count(*) from sqlite_schema', 0);
  database?.close();
  return database === undefined;
}
