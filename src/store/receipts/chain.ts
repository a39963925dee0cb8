import { type Kysely, sql, type Transaction } from 'kysely';
import { AbpError } from '../../contract/errors.ts';
import { GENESIS } from '../../contract/receipts/genesis.ts';
import type { Tables } from '../schema.ts';
import type { Store } from '../store.ts';

/** Where a chain ends. */
export interface ChainTip {
  readonly sequence: number;
  readonly hash: string;
}

/** A chain as the database knows it. */
export interface StoredChain extends ChainTip {
  readonly number: number;
  readonly node: string;
  readonly keyId: string;
}

/** The rows that a batch adds to a chain. */
export interface ChainAddition {
  readonly chain: number;
  readonly before: ChainTip;
  readonly after: ChainTip;
  readonly heads: readonly { readonly sequence: number; readonly document: string }[];
}

/** A public key of a chain. */
export interface StoredKey {
  readonly id: string;
  readonly chain: number;
  readonly publicKey: string;
  readonly createdAt: number;
  readonly retiredAt: number | null;
}

/**
 * The chain is not where the batch was built on, or a run had ended already. Nothing was written; the batch is built again on what
 * the database holds now, so that a place in the chain is never given to a receipt that is not there.
 */
export function chainMoved(): AbpError {
  return new AbpError('conflict', 'another process has written to the chain of this node, or has ended one of its runs');
}

export async function findChain(store: Store, node: string): Promise<StoredChain | undefined> {
  const row = await store.db.selectFrom('chains').selectAll().where('node', '=', node).executeTakeFirst();
  return row === undefined ? undefined : { number: row.number, node, sequence: row.sequence, hash: row.hash, keyId: row.key_id };
}

/** Every chain in the database, in the order they began. */
export async function listChains(store: Store): Promise<readonly StoredChain[]> {
  const rows = await store.db.selectFrom('chains').selectAll().orderBy('number').execute();
  return rows.map((row) => ({ number: row.number, node: row.node, sequence: row.sequence, hash: row.hash, keyId: row.key_id }));
}

/**
 * Begins the chain of a node. Of two processes of one node that do so at once, one fails and finds the other's chain the next time;
 * nodes that start together get numbers one after the other.
 */
export async function createChain(store: Store, node: string, key: Omit<StoredKey, 'chain' | 'retiredAt'>): Promise<StoredChain> {
  return await store.db.transaction().execute(async (db) => {
    // SQLite has one writer anyway.
    if (store.kind === 'postgres') await sql`lock table chains in share row exclusive mode`.execute(db);
    const last = await db
      .selectFrom('chains')
      .select((eb) => eb.fn.max('number').as('number'))
      .executeTakeFirst();
    const number = (last?.number ?? 0) + 1;
    await db.insertInto('chains').values({ number, node, sequence: 0, hash: GENESIS, key_id: key.id }).execute();
    // The row of its key may have outlived the row of the chain.
    await db.deleteFrom('seal_keys').where('id', '=', key.id).execute();
    await insertKey(db, { ...key, chain: number });
    return { number, node, sequence: 0, hash: GENESIS, keyId: key.id };
  });
}

async function insertKey(db: Kysely<Tables>, { id, chain, publicKey, createdAt }: Omit<StoredKey, 'retiredAt'>): Promise<void> {
  await db.insertInto('seal_keys').values({ id, chain, public_key: publicKey, created_at: createdAt, retired_at: null }).execute();
}

/** An entry that is not a receipt, and the head that signs it. */
export interface NewEntry extends ChainAddition {
  readonly kind: string;
  readonly document: string;
}

/** Appends an entry and does the work that belongs to it, both or neither. */
export async function appendEntry(store: Store, entry: NewEntry, work: (db: Transaction<Tables>) => Promise<void>): Promise<void> {
  const { chain, before, after, heads, kind, document } = entry;
  await store.db.transaction().execute(async (db) => {
    const { numUpdatedRows } = await db
      .updateTable('chains')
      .set({ sequence: after.sequence, hash: after.hash })
      .where('number', '=', chain)
      .where('sequence', '=', before.sequence)
      .where('hash', '=', before.hash)
      .executeTakeFirstOrThrow();
    if (numUpdatedRows !== 1n) throw chainMoved();
    await db.insertInto('chain_entries').values({ chain, sequence: after.sequence, kind, document }).execute();
    await db
      .insertInto('chain_heads')
      .values(heads.map((head) => ({ chain, ...head })))
      .execute();
    await work(db);
  });
}

/** The chain's key is another one from now on. */
export async function changeKey(db: Transaction<Tables>, retired: string, key: Omit<StoredKey, 'retiredAt'>): Promise<void> {
  await db.updateTable('chains').set({ key_id: key.id }).where('number', '=', key.chain).execute();
  await db.updateTable('seal_keys').set({ retired_at: key.createdAt }).where('id', '=', retired).execute();
  await insertKey(db, key);
}

/**
 * The chain goes on behind an entry that its node has signed and that is gone from the database, so that no place is given away twice.
 * The key that signed it signs on.
 */
export async function skipTo(store: Store, chain: StoredChain, tip: ChainTip, key: Pick<StoredKey, 'id' | 'publicKey'>): Promise<void> {
  await store.db.transaction().execute(async (db) => {
    const { numUpdatedRows } = await db
      .updateTable('chains')
      .set({ sequence: tip.sequence, hash: tip.hash, key_id: key.id })
      .where('number', '=', chain.number)
      .where('sequence', '=', chain.sequence)
      .executeTakeFirstOrThrow();
    if (numUpdatedRows !== 1n) throw chainMoved();
    const known = await db.selectFrom('seal_keys').select('id').where('id', '=', key.id).executeTakeFirst();
    if (known === undefined) await insertKey(db, { ...key, chain: chain.number, createdAt: Date.now() });
  });
}

/** The keys of every chain, or of one, oldest first. */
export async function listSealKeys(store: Store, chain?: number): Promise<readonly StoredKey[]> {
  const all = store.db.selectFrom('seal_keys').selectAll().orderBy('created_at').orderBy('id');
  const rows = await (chain === undefined ? all : all.where('chain', '=', chain)).execute();
  return rows.map((row) => ({
    id: row.id,
    chain: row.chain,
    publicKey: row.public_key,
    createdAt: row.created_at,
    retiredAt: row.retired_at,
  }));
}

/** The signed head at the entry or the first one after it; without an entry, the last. */
export async function findHead(store: Store, chain: number, from?: number): Promise<{ sequence: number; document: string } | undefined> {
  const all = store.db.selectFrom('chain_heads').select(['sequence', 'document']).where('chain', '=', chain);
  const query = from === undefined ? all.orderBy('sequence', 'desc') : all.where('sequence', '>=', from).orderBy('sequence');
  return await query.limit(1).executeTakeFirst();
}

/** The chain of a node, which must exist. */
export async function chainOf(store: Store, node: string): Promise<StoredChain> {
  const chain = await findChain(store, node);
  if (chain === undefined) throw new AbpError('not_found', `There is no chain of the node ${node}: it has sealed nothing yet.`);
  return chain;
}
