import { type Kysely, sql } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import { AbpError } from '../contract/errors.ts';
import { up as firstTables } from './migrations/0001-first-tables.ts';
import { up as fewerIndexes } from './migrations/0002-fewer-indexes.ts';
import { up as chains } from './migrations/0003-chains.ts';
import { up as recordings } from './migrations/0004-recordings.ts';
import { up as agentPlane } from './migrations/0005-agent-plane.ts';
import { up as runs } from './migrations/0006-runs.ts';
import { up as lostNodes } from './migrations/0007-lost-nodes.ts';
import { up as authenticatedKeys } from './migrations/0008-authenticated-keys.ts';
import { up as runCancels } from './migrations/0009-run-cancels.ts';
import { up as capabilitiesPerOwner } from './migrations/0010-capabilities-per-owner.ts';
import { up as usage } from './migrations/0011-usage.ts';
import { up as budgets } from './migrations/0012-budgets.ts';
import { up as people } from './migrations/0013-people.ts';
import { up as notices } from './migrations/0014-notices.ts';
import { up as audit } from './migrations/0015-audit.ts';
import { up as rolesAndRotation } from './migrations/0016-roles-and-rotation.ts';
import { up as receiptMarks } from './migrations/0017-receipt-marks.ts';
import { up as parts } from './migrations/0018-parts.ts';
import { up as limitUses } from './migrations/0019-limit-uses.ts';
import { up as erasures } from './migrations/0020-erasures.ts';
import { up as pushSubscriptions } from './migrations/0021-push-subscriptions.ts';
import { up as lateUsage } from './migrations/0022-late-usage.ts';
import { up as reachedCalls } from './migrations/0023-reached-calls.ts';
import { up as countedResults } from './migrations/0024-counted-results.ts';
import type { Tables } from './schema.ts';

/** Applied in the order of their names; an applied one is never edited or renamed. */
export const MIGRATIONS: Readonly<Record<string, Migration>> = {
  '0001-first-tables': { up: firstTables },
  '0002-fewer-indexes': { up: fewerIndexes },
  '0003-chains': { up: chains },
  '0004-recordings': { up: recordings },
  '0005-agent-plane': { up: agentPlane },
  '0006-runs': { up: runs },
  '0007-lost-nodes': { up: lostNodes },
  '0008-authenticated-keys': { up: authenticatedKeys },
  '0009-run-cancels': { up: runCancels },
  '0010-capabilities-per-owner': { up: capabilitiesPerOwner },
  '0011-usage': { up: usage },
  '0012-budgets': { up: budgets },
  '0013-people': { up: people },
  '0014-notices': { up: notices },
  '0015-audit': { up: audit },
  '0016-roles-and-rotation': { up: rolesAndRotation },
  '0017-receipt-marks': { up: receiptMarks },
  '0018-parts': { up: parts },
  '0019-limit-uses': { up: limitUses },
  '0020-erasures': { up: erasures },
  '0021-push-subscriptions': { up: pushSubscriptions },
  '0022-late-usage': { up: lateUsage },
  '0023-reached-calls': { up: reachedCalls },
  '0024-counted-results': { up: countedResults },
};

/**
 * Brings the schema up to date, or up to one step of it where an older backup is to be read. Processes that start at the same moment take turns: PostgreSQL by an advisory lock,
 * SQLite because the whole run is one immediate transaction (see `sqlite-dialect.ts`).
 */
export async function migrate(db: Kysely<Tables>, where: string, upTo?: string): Promise<void> {
  if (upTo === undefined && (await isUpToDate(db))) return;
  const migrator = new Migrator({ db, provider: { getMigrations: async () => ({ ...MIGRATIONS }) } });
  const { error } = upTo === undefined ? await migrator.migrateToLatest() : await migrator.migrateTo(upTo);
  if (error === undefined) return;
  const unknown = (await appliedNames(db)).filter((name) => !Object.hasOwn(MIGRATIONS, name));
  if (unknown.length > 0) {
    throw new AbpError(
      'conflict',
      `the database ${where} is newer than this version of abp (it has ${unknown.join(', ')}); upgrade abp or use another database`,
      { unknown },
      'Install the version of abp that made it, or a newer one. --home names another home, ABP_DATABASE_URL another database.',
    );
  }
  const reason = error instanceof Error ? error.message : String(error);
  throw new AbpError('internal', `the database ${where} could not be brought up to date: ${reason}`, { reason });
}

/** Nearly every start finds nothing to do: it asks with one short query, without the migrator's lock and its look at every column. */
async function isUpToDate(db: Kysely<Tables>): Promise<boolean> {
  try {
    const applied = new Set(await namesIn(db));
    return applied.size === Object.keys(MIGRATIONS).length && Object.keys(MIGRATIONS).every((name) => applied.has(name));
  } catch {
    // A database without the table is a new one. One that cannot be read says why when the migrator tries.
    return false;
  }
}

async function appliedNames(db: Kysely<Tables>): Promise<string[]> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true });
  return tables.some((table) => table.name === 'kysely_migration') ? namesIn(db) : [];
}

async function namesIn(db: Kysely<Tables>): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`select name from kysely_migration`.execute(db);
  return rows.map((row) => row.name);
}
