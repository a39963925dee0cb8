import type { ReceiptColumns } from '../schema.ts';
import type { Store } from '../store.ts';
import { conditions, type ReceiptChoice, type ReceiptFilter } from './receipts.ts';

/** A sealed row as an export needs it. */
export interface SealedRow {
  readonly sequence: number;
  readonly document: string;
  /** Its columns as they stand, and the run whose row it is. */
  readonly columns: ReceiptColumns;
  readonly runKey: string;
  /** Whether the filter of the export takes it. */
  readonly chosen: boolean;
}

/** An entry that is not a receipt, or a head. */
export interface ChainLine {
  readonly sequence: number;
  readonly document: string;
}

/** Part of a chain. */
export interface ChainRange {
  readonly chain: number;
  readonly from: number;
  readonly to: number;
}

/** Which receipts an export holds in full. */
export type ExportFilter = ReceiptChoice & Pick<ReceiptFilter, 'unkeyed'>;

/** The receipts of a range, in the order of the chain. */
export async function sealedRows(store: Store, { chain, from, to }: ChainRange, filter: ExportFilter): Promise<readonly SealedRow[]> {
  const rows = await store.db
    .selectFrom('receipts')
    .selectAll()
    .select((eb) =>
      eb
        .case()
        .when(conditions(store, filter, eb))
        .then(1)
        .else(0)
        .end()
        .as('chosen'),
    )
    .where('chain', '=', chain)
    .where('sequence', '>=', from)
    .where('sequence', '<=', to)
    .orderBy('sequence')
    .execute();
  return rows.map(({ sequence, document, chosen, run_id, ...columns }) => ({
    sequence: sequence ?? 0,
    document,
    columns,
    runKey: run_id,
    chosen: Number(chosen) === 1,
  }));
}

/** An entry that is not a receipt, and what it is. */
export interface ChainEntry extends ChainLine {
  readonly kind: string;
}

/** Rotations, removals and the like of a range. */
export async function chainEntries(store: Store, { chain, from, to }: ChainRange): Promise<readonly ChainEntry[]> {
  return await store.db
    .selectFrom('chain_entries')
    .select(['sequence', 'kind', 'document'])
    .where('chain', '=', chain)
    .where('sequence', '>=', from)
    .where('sequence', '<=', to)
    .orderBy('sequence')
    .execute();
}

/** The documents of all entries of a chain that are of this kind, oldest first. */
export async function entriesOfKind(store: Store, chain: number, kind: string): Promise<readonly string[]> {
  const rows = await store.db
    .selectFrom('chain_entries')
    .select('document')
    .where('chain', '=', chain)
    .where('kind', '=', kind)
    .orderBy('sequence')
    .execute();
  return rows.map(({ document }) => document);
}

/** Entries of this kind before a place in the chain, newest first. */
export async function entriesBefore(
  store: Store,
  { chain, kind, before, most }: { readonly chain: number; readonly kind: string; readonly before: number; readonly most: number },
): Promise<readonly ChainLine[]> {
  return await store.db
    .selectFrom('chain_entries')
    .select(['sequence', 'document'])
    .where('chain', '=', chain)
    .where('kind', '=', kind)
    .where('sequence', '<', before)
    .orderBy('sequence', 'desc')
    .limit(most)
    .execute();
}

/** Signed heads of a range. */
export async function chainHeads(store: Store, { chain, from, to }: ChainRange): Promise<readonly ChainLine[]> {
  return await store.db
    .selectFrom('chain_heads')
    .select(['sequence', 'document'])
    .where('chain', '=', chain)
    .where('sequence', '>=', from)
    .where('sequence', '<=', to)
    .orderBy('sequence')
    .execute();
}

/** The first and the last receipt that the filter takes; undefined when there is none. */
export async function chosenRange(store: Store, chain: number, filter: ExportFilter): Promise<Omit<ChainRange, 'chain'> | undefined> {
  const row = await store.db
    .selectFrom('receipts')
    .select((eb) => [eb.fn.min('sequence').as('from'), eb.fn.max('sequence').as('to')])
    .where('chain', '=', chain)
    .where('sequence', 'is not', null)
    .where((eb) => conditions(store, filter, eb))
    .executeTakeFirst();
  return row === undefined || row.from === null || row.to === null ? undefined : { from: Number(row.from), to: Number(row.to) };
}
