import type { DatabaseSync } from 'node:sqlite';
import type { Kysely } from 'kysely';
import type { Tables } from './schema.ts';

/** A secret of the home that rows of keys are authenticated with; it is never in the database. */
export interface KeySecret {
  readonly value: string;
  /** All homes that share the database have the same one. */
  readonly shared: boolean;
  /** The home has not used it yet: the keys that are in the database are taken over. */
  readonly isNew: boolean;
  taken(): void;
}

interface StoreBase {
  readonly db: Kysely<Tables>;
  /** The secret that rows of keys are authenticated with. */
  readonly keySecret: KeySecret;
  /** Takes secrets of the installation out of a text of a session that is about to be kept. */
  readonly withoutSecrets?: ((text: string) => string) | undefined;
  /** Rejects when the database does not answer. */
  ping(): Promise<void>;
  /** Waits for work in progress; calling it again is harmless. */
  close(): Promise<void>;
}

/**
 * The embedded home database. Open it once per thread: two of them on one thread can wait for each other's transaction,
 * because SQLite waits by blocking the thread.
 */
export interface SqliteStore extends StoreBase {
  readonly kind: 'sqlite';
  /** For statements prepared once; use it only inside `exclusive`. */
  readonly sqlite: DatabaseSync;
  /** Runs synchronous work on `sqlite` while no transaction of `db` is open. */
  exclusive<T>(work: () => T): Promise<T>;
}

export interface PostgresStore extends StoreBase {
  readonly kind: 'postgres';
}

export type Store = SqliteStore | PostgresStore;

/** A store that does not know the secret of its home yet. */
export type OpenedStore = Omit<SqliteStore, 'keySecret'> | Omit<PostgresStore, 'keySecret'>;
