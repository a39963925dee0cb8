import type { Store } from '../store.ts';

/** A sealed receipt as a stream of them needs it. */
export interface SealedReceipt {
  readonly sequence: number;
  readonly keyId: string | null;
  readonly status: string;
  readonly document: string;
}

/** Receipts after an entry of the chain, in its order. */
export async function sealedAfter(store: Store, chain: number, sequence: number, limit: number): Promise<readonly SealedReceipt[]> {
  const rows = await store.db
    .selectFrom('receipts')
    .select(['sequence', 'key_id', 'status', 'document'])
    .where('chain', '=', chain)
    .where('sequence', '>', sequence)
    .orderBy('sequence')
    .limit(limit)
    .execute();
  return rows.map((row) => ({ sequence: row.sequence ?? 0, keyId: row.key_id, status: row.status, document: row.document }));
}
