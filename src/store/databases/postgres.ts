import { CompiledQuery, Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { AbpError } from '../../contract/errors.ts';
import { migrate } from '../migrations.ts';
import type { Tables } from '../schema.ts';
import type { PostgresStore } from '../store.ts';
import { unreachable } from './away.ts';
import { prepareParts } from './prepare-parts.ts';

const INT8 = 20;

/** pg hands out int8 as text; every int8 of the schema is a count or a time in milliseconds and fits a number. */
function wholeNumber(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`${text} does not fit a number`);
  return value;
}

/** Whole numbers as numbers. */
export const columnTypes: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') => (oid === INT8 ? wholeNumber : pg.types.getTypeParser(oid, format)),
};

/** The address without its credentials, for messages. */
export function withoutSecrets(url: string): string {
  if (!URL.canParse(url)) return 'in the given URL';
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}

function openPool(url: string): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    application_name: 'agent-backplane',
    connectionTimeoutMillis: 5000,
    keepAlive: true,
    max: 10,
    types: columnTypes,
  });
  // An idle connection that breaks is discarded by the pool, and the next query opens another or reports why it cannot.
  // Without a listener the event would end the process.
  pool.on('error', () => undefined);
  // A connection that is lent out and idle, in the middle of a transaction, tells nobody but itself; its next query fails.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

/** `upTo` is the last step of the schema to take; all of them, unless told. */
export async function openPostgres(url: string, { upTo }: { readonly upTo?: string } = {}): Promise<Omit<PostgresStore, 'keySecret'>> {
  const where = withoutSecrets(url);
  const pool = openPool(url);
  const watched = { connect: () => pool.connect().catch(unreachable), end: () => pool.end(), options: pool.options };
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: watched }) });
  const ping = async (): Promise<void> => void (await db.executeQuery(CompiledQuery.raw('select 1')));
  try {
    await ping().catch((error: unknown) => {
      const reason = error instanceof AggregateError ? error.errors.map(String).join(', ') : String(error);
      throw new AbpError('internal', `the database ${where} cannot be reached: ${reason}`, { reason });
    });
    if (upTo === undefined) await prepareParts(pool);
    await migrate(db, where, upTo);
  } catch (error) {
    await db.destroy();
    throw error;
  }
  let closing: Promise<void> | undefined;
  return { kind: 'postgres', db, ping, close: () => (closing ??= db.destroy()) };
}
