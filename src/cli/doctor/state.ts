import { constants, existsSync } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from '../../base/builtin/sqlite.ts';
import { maskAddress } from '../../base/redact.ts';
import { damagedParts } from '../../receipts/keeper/gaps.ts';
import { sealKeysFolder } from '../../receipts/seal/seal-keys.ts';
import { type Check, type Finding, fail, notChecked, ok, warn } from './check.ts';
import { nearestFolder } from './machine.ts';

export const homeFolder: Check = {
  name: 'home',
  async run({ home }) {
    if (!existsSync(home)) return judgeAbsent(home);
    const found = await stat(home);
    if (!found.isDirectory()) return fail(`${home} is not a folder`, 'Move it away, or choose another home with ABP_HOME.');
    const self = process.getuid?.();
    if (self !== undefined && found.uid !== self)
      return fail(`${home} belongs to another user`, 'Choose a home of your own with ABP_HOME.');
    if (process.platform !== 'win32' && (found.mode & 0o077) !== 0) {
      return warn(`${home} can be read by others (mode ${(found.mode & 0o777).toString(8)})`, `Run chmod 700 ${home}`);
    }
    return ok(home);
  },
};

async function judgeAbsent(home: string): Promise<Finding> {
  const parent = nearestFolder(home);
  try {
    await access(parent, constants.W_OK);
    return ok(`${home} (made at the first start)`);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    return fail(`${home} cannot be made: ${reason}`, 'Choose another home with ABP_HOME.');
  }
}

export const journal: Check = {
  name: 'journal',
  async run({ home }) {
    const folder = join(home, 'journal');
    const parts = damagedParts(folder);
    if (parts.length === 0) return ok('every line can be read');
    return warn(
      `${parts.length === 1 ? 'a part' : `${parts.length} parts`} of the journal could not be read: ${parts.slice(0, 3).join(', ')}`,
      `The chain names the gap (abp receipt verify). What was set aside is in ${join(folder, 'damaged')}; delete it when you have seen it.`,
    );
  },
};

export const receiptChain: Check = {
  name: 'receipts',
  async run({ home, loaded }) {
    if (loaded instanceof Error || !existsSync(sealKeysFolder(home))) return ok('nothing is sealed yet');
    const { url } = loaded.config.database;
    // Nothing is made or changed: a home without a database has no receipts.
    if (url === undefined && !existsSync(join(home, 'abp.db')))
      return warn('keys are here, and no database', 'Restore abp.db from a backup.');
    const { chainFaults } = await import('./receipt-chain.ts');
    const faults = await chainFaults(home, loaded.config);
    if (faults.length === 0) return ok('the chain ends where this home has signed it');
    return fail(faults.join('; '), 'Somebody has written to the database. abp receipts verify --all says what is wrong.');
  },
};

export const database: Check = {
  name: 'database',
  async run({ home, loaded }) {
    if (loaded instanceof Error) return notChecked();
    const { url = '' } = loaded.config.database;
    return url === '' ? probeSqlite(join(home, 'abp.db')) : probePostgres(url);
  },
};

function probeSqlite(file: string): Finding {
  if (!existsSync(file)) return ok('SQLite (made at the first start)');
  try {
    const opened = new DatabaseSync(file, { readOnly: true });
    opened.prepare('SELECT count(*) FROM sqlite_master').get();
    opened.close();
    return ok(`SQLite ${file}`);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    return fail(`${file} does not open: ${reason}`, 'Restore it from a backup, or move it away to begin anew.');
  }
}

async function probePostgres(url: string): Promise<Finding> {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  try {
    await client.connect();
    await client.query('SELECT 1');
    return ok(`PostgreSQL ${maskAddress(url)}`);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    return fail(`PostgreSQL ${maskAddress(url)} does not answer: ${reason}`, 'Start it, or correct ABP_DATABASE_URL or database.url.');
  } finally {
    await client.end();
  }
}
