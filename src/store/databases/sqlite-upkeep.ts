import { setTimeout as sleep } from 'node:timers/promises';
import type { Store } from '../store.ts';
import { WRITES_OVER_ROWS, WRITES_OVER_ROWS_AND_PAGES } from './sqlite.ts';

/** A statement waits for readers by itself; it does not wait for another process that is making a checkpoint. */
const CHECKPOINT_TRIES = 10;
const CHECKPOINT_MS = 5000;

/**
 * Does work that removes something for good. SQLite leaves the content of pages that it gives up in its file until the room is needed;
 * here it writes over them. PostgreSQL clears them away by itself.
 */
export async function overwriting<T>(store: Store, work: () => Promise<T>): Promise<T> {
  if (store.kind !== 'sqlite') return await work();
  const { sqlite } = store;
  await store.exclusive(() => sqlite.exec(WRITES_OVER_ROWS_AND_PAGES));
  try {
    return await work();
  } finally {
    await store.exclusive(() => sqlite.exec(WRITES_OVER_ROWS));
  }
}

/** Empties the log of SQLite, which holds earlier states of what was changed. False where somebody is reading one of those. */
export async function emptyLog(store: Store): Promise<boolean> {
  if (store.kind !== 'sqlite') return true;
  const until = performance.now() + CHECKPOINT_MS;
  for (let left = CHECKPOINT_TRIES; left > 0 && performance.now() < until; left -= 1) {
    const row = await store.exclusive(() => store.sqlite.prepare('pragma wal_checkpoint(truncate)').get());
    if (row?.busy === 0) return true;
    await sleep(20);
  }
  return false;
}

/** Forces to the disk what has been committed. PostgreSQL does so with every commit. */
export async function checkpoint(store: Store): Promise<void> {
  if (store.kind === 'sqlite') await store.exclusive(() => store.sqlite.exec('pragma wal_checkpoint(passive)'));
}
