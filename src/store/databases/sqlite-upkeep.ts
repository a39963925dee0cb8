import type { Store } from '../store.ts';

/**
 * Does work that removes something for good. SQLite leaves removed content in its file and its log until the room is needed; here it
 * writes over it. PostgreSQL clears it away by itself.
 */
export async function overwriting<T>(store: Store, work: () => Promise<T>): Promise<T> {
  if (store.kind !== 'sqlite') return await work();
  const { sqlite } = store;
  await store.exclusive(() => sqlite.exec('pragma secure_delete = on'));
  try {
    return await work();
  } finally {
    await store.exclusive(() => sqlite.exec('pragma secure_delete = off; pragma wal_checkpoint(truncate)'));
  }
}

/** Forces to the disk what has been committed. PostgreSQL does so with every commit. */
export async function checkpoint(store: Store): Promise<void> {
  if (store.kind === 'sqlite') await store.exclusive(() => store.sqlite.exec('pragma wal_checkpoint(passive)'));
}
