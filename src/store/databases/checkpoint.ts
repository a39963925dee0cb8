import type { Store } from '../store.ts';

/** Forces to the disk what has been committed. PostgreSQL does so with every commit. */
export async function checkpoint(store: Store): Promise<void> {
  if (store.kind === 'sqlite') await store.exclusive(() => store.sqlite.exec('pragma wal_checkpoint(passive)'));
}
