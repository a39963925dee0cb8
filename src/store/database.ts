import { AbpError } from '../contract/errors.ts';
import { openSqlite } from './databases/sqlite.ts';
import { adoptKeys } from './key-mac.ts';
import type { KeySecret, OpenedStore, Store } from './store.ts';

export interface StoreOptions {
  /** `postgres://…`; without it the database is the SQLite file of the home. */
  readonly url?: string | undefined;
  /** Where the home keeps its SQLite file. */
  readonly home: { readonly databaseFile: string; readonly keySecret: () => KeySecret };
  /** A keeper of this process writes to the same database and makes its checkpoints. */
  readonly besideKeeper?: boolean | undefined;
  /** Takes secrets of the installation out of texts of sessions. */
  readonly withoutSecrets?: ((text: string) => string) | undefined;
}

/** Opens the home database and brings its schema up to date. */
export async function openStore(options: StoreOptions): Promise<Store> {
  const keySecret = options.home.keySecret();
  const store = { ...(await opened(options)), keySecret, withoutSecrets: options.withoutSecrets };
  await adoptKeys(store.db, keySecret);
  return store;
}

async function opened({ url, home, besideKeeper }: StoreOptions): Promise<OpenedStore> {
  if (url === undefined || url === '') return openSqlite(home.databaseFile, { leavesCheckpoints: besideKeeper });
  if (!/^postgres(ql)?:\/\//.test(url)) {
    throw new AbpError('invalid_request', 'the database URL must begin with postgres:// or postgresql://; leave it out to use SQLite');
  }
  // Loaded on demand: a start on SQLite never pays for pg.
  const { openPostgres } = await import('./databases/postgres.ts');
  return openPostgres(url);
}
