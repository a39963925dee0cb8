import { type ExpressionBuilder, type ExpressionWrapper, type SqlBool, sql, type Transaction } from 'kysely';
import { randomToken } from '../../base/ids.ts';
import { AbpError } from '../../contract/errors.ts';
import { receiptOf, type StoredReceipt } from '../receipts/receipt-columns.ts';
import type { Tables } from '../schema.ts';
import type { Store } from '../store.ts';
import { hasTag } from '../tags.ts';
import { indexedText, storableText } from '../text.ts';
import type { UsageRollupsTable } from './usage-schema.ts';

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

const COUNTS = ['calls', 'unpriced', 'cost_nano_usd', 'tokens_in', 'tokens_out', 'cache_read', 'thinking', 'reached'] as const;
/** Columns of a row that further calls change. */
const CHANGING = [...COUNTS, 'first_byte', 'total'] as const;

/** A sum of calls; it replaces the row of the same span, start and facets. */
export type Rollup = Omit<UsageRollupsTable, 'chain'>;

/** A step of the keeper: what receipts between two places of the chain add. */
export interface RollupStep {
  readonly chain: number;
  readonly from: number;
  readonly to: number;
  readonly added: readonly Rollup[];
  /** Puts two sums of the same facets together. */
  readonly merge: (one: Rollup, other: Rollup) => Rollup;
}

/** How far the receipts of a chain have been added up. */
export async function rolledUpTo(store: Store, chain: number): Promise<number> {
  const row = await store.db.selectFrom('usage_positions').select('sequence').where('chain', '=', chain).executeTakeFirst();
  return row?.sequence ?? 0;
}

/** Sealed receipts of a chain after a place in it. */
export async function sealedReceipts(store: Store, chain: number, after: number, limit: number): Promise<StoredReceipt[]> {
  const rows = await store.db
    .selectFrom('receipts')
    .selectAll()
    .where('chain', '=', chain)
    .where('sequence', '>', after)
    .orderBy('sequence')
    .limit(limit)
    .execute();
  return rows.map(receiptOf);
}

/** How many receipts of a chain are sealed after one place and up to another. */
export async function countSealed(store: Store, chain: number, after: number, to: number): Promise<number> {
  const { many } = await store.db
    .selectFrom('receipts')
    .select(({ fn }) => fn.countAll().as('many'))
    .where('chain', '=', chain)
    .where('sequence', '>', after)
    .where('sequence', '<=', to)
    .executeTakeFirstOrThrow();
  return Number(many);
}

/** Rows of one statement: every one has two dozen values, and SQLite takes 32,766 of them. */
const ROWS_AT_ONCE = 500;

/** Adds sums and moves the place on: both or neither, so that a killed keeper loses nothing and counts nothing twice. */
export async function saveRollups(store: Store, step: RollupStep): Promise<void> {
  await store.db.transaction().execute(async (db) => {
    await moveOn(db, step);
    await addRollups(db, step);
  });
}

/** Adds sums to those that a chain has. */
export async function addRollups(db: Transaction<Tables>, to: Pick<RollupStep, 'chain' | 'added' | 'merge'>): Promise<void> {
  const added = to.added.map(storable);
  for (let at = 0; at < added.length; at += ROWS_AT_ONCE) await addRows(db, to, added.slice(at, at + ROWS_AT_ONCE));
}

/** Names come from callers, who may write characters that PostgreSQL takes in no text. */
function storable(row: Rollup): Rollup {
  const texts = Object.entries(row).map(([name, value]) => [name, typeof value === 'string' ? storableText(value) : value]);
  return Object.fromEntries(texts) as Rollup; // the same members, each of its type
}

async function addRows(
  db: Transaction<Tables>,
  { chain, merge }: Pick<RollupStep, 'chain' | 'merge'>,
  added: readonly Rollup[],
): Promise<void> {
  const values = <T>(of: (one: Rollup) => T): T[] => [...new Set(added.map(of))];
  const found = await db
    .selectFrom('usage_rollups')
    .selectAll()
    .where(
      'span',
      'in',
      values(({ span }) => span),
    )
    .where(
      'start',
      'in',
      values(({ start }) => start),
    )
    .where('chain', '=', chain)
    .where(
      'facets',
      'in',
      values(({ facets }) => facets),
    )
    .execute();
  const keyOf = ({ span, start, facets }: Rollup): string => `${span} ${start} ${facets}`;
  const known = new Map(found.map((row) => [keyOf(row), row]));
  const rows = added.map((one) => {
    const before = known.get(keyOf(one));
    return { ...(before === undefined ? one : merge(before, one)), chain };
  });
  await db
    .insertInto('usage_rollups')
    .values(rows)
    .onConflict((conflict) =>
      conflict
        .columns(['span', 'start', 'chain', 'facets'])
        .doUpdateSet((eb) => Object.fromEntries(CHANGING.map((name) => [name, eb.ref(`excluded.${name}`)]))),
    )
    .execute();
}

/** Whose calls are forgotten: those of a key, or with a tag. */
export interface Forgotten {
  readonly key?: string | undefined;
  readonly tag?: string | undefined;
}

/**
 * Takes names out of sums of calls whose receipts are deleted; what they came to stays. Calls that follow are added up apart from them. What
 * other nodes have told late of receipts of this chain goes with these.
 */
export async function forgetInRollups(store: Store, chain: number, { key, tag }: Forgotten): Promise<void> {
  const apart = randomToken(8);
  await store.db
    .updateTable('usage_rollups')
    .set({ model: '', key_id: '', agent: '', tags: '[]', facets: sql<string>`${apart} || facets` })
    .where((eb) => eb.or([eb.and([eb('chain', '=', chain), eb('late_of', '=', 0)]), eb('late_of', '=', chain)]))
    .$if(key !== undefined, (query) => query.where('key_id', '=', storableText(key ?? '')))
    .$if(tag !== undefined, (query) => query.where((eb) => eb.and([hasTag(store, tag ?? '')])))
    .execute();
}

async function moveOn(db: Transaction<Tables>, { chain, from, to }: RollupStep): Promise<void> {
  if (from === 0)
    await db
      .insertInto('usage_positions')
      .values({ chain, sequence: 0 })
      .onConflict((conflict) => conflict.column('chain').doNothing())
      .execute();
  const moved = await db
    .updateTable('usage_positions')
    .set({ sequence: to })
    .where('chain', '=', chain)
    .where('sequence', '=', from)
    .executeTakeFirst();
  if (Number(moved.numUpdatedRows) !== 1) throw new AbpError('conflict', `another process adds up the receipts of chain ${chain}`);
}

/** Which sums are asked for. */
export interface RollupChoice {
  readonly span: 'h' | 'd';
  readonly since: number;
  readonly until: number;
  /** By facet; every given one must match. */
  readonly equal: Readonly<Partial<Record<'engine' | 'model' | 'key_id' | 'agent' | 'status' | 'mode' | 'error', string>>>;
  /** Only calls of these keys; one at least. */
  readonly keys?: readonly string[] | undefined;
  readonly tag?: string | undefined;
  /** Bits, one of which a row must have. */
  readonly fates?: number | undefined;
}

export type RollupFacet = 'start' | 'engine' | 'model' | 'key_id' | 'agent' | 'status' | 'mode' | 'error' | 'fates' | 'tags';

/** Sums over rows that agree in the facets asked for. */
export type RollupSums = Partial<Pick<UsageRollupsTable, RollupFacet>> & {
  readonly failed: number;
} & Pick<UsageRollupsTable, 'calls' | 'unpriced' | 'cost_nano_usd' | 'tokens_in' | 'tokens_out' | 'cache_read' | 'thinking' | 'reached'>;

type Where = ExpressionWrapper<Tables, 'usage_rollups', SqlBool>;

function chosen(store: Store, choice: RollupChoice, eb: ExpressionBuilder<Tables, 'usage_rollups'>): Where {
  const { span, since, until, equal, keys, tag, fates } = choice;
  const all: Where[] = [eb('span', '=', span), eb('start', '>=', since), eb('start', '<', until)];
  for (const [name, value] of Object.entries(equal)) all.push(eb(name as keyof typeof equal, '=', indexedText(value))); // the names are the type's
  if (keys !== undefined) all.push(eb('key_id', 'in', keys.map(indexedText)));
  if (tag !== undefined) all.push(eb.and([hasTag(store, tag)]));
  if (fates !== undefined) all.push(eb.and([sql<boolean>`(fates & ${fates}) > 0`]));
  return eb.and(all);
}

/** The sums of the rows that match, by facets; the database adds. */
export async function sumRollups(store: Store, choice: RollupChoice, facets: readonly RollupFacet[]): Promise<RollupSums[]> {
  const rows = await store.db
    .selectFrom('usage_rollups')
    .select([...facets])
    .select(COUNTS.map((name) => sql<number | string>`sum(${sql.ref(name)})`.as(name)))
    .select(sql<number | string>`sum(case when status = 'failed' then calls else 0 end)`.as('failed'))
    .where((eb) => chosen(store, choice, eb))
    .$if(facets.length > 0, (query) => query.groupBy([...facets]))
    .execute();
  // PostgreSQL tells sums as text; without a row a sum is null.
  const number = (value: number | string | null): number => Number(value ?? 0);
  return rows.map((row) => {
    const sums = Object.fromEntries([...COUNTS, 'failed' as const].map((name) => [name, number(row[name])]));
    return { ...row, ...sums } as RollupSums; // every sum is a number now
  });
}

/** The durations of the rows that match, by facets. */
export async function rollupDurations(
  store: Store,
  choice: RollupChoice,
  facets: readonly RollupFacet[],
): Promise<(Partial<Pick<UsageRollupsTable, RollupFacet>> & Pick<UsageRollupsTable, 'first_byte' | 'total'>)[]> {
  return await store.db
    .selectFrom('usage_rollups')
    .select([...facets, 'first_byte', 'total'])
    .where((eb) => chosen(store, choice, eb))
    .execute();
}

/** The chains of a database and how far each has been added up. */
export async function rollupPositions(
  store: Store,
): Promise<{ readonly chain: number; readonly sequence: number; readonly sealed: number }[]> {
  const rows = await store.db
    .selectFrom('chains')
    .leftJoin('usage_positions', 'usage_positions.chain', 'chains.number')
    .select(['chains.number as chain', 'chains.sequence as sealed', 'usage_positions.sequence as sequence'])
    .execute();
  return rows.map(({ chain, sealed, sequence }) => ({ chain, sealed, sequence: sequence ?? 0 }));
}
