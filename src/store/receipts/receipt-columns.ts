import type { Selectable } from 'kysely';
import type { Json, JsonObject } from '../../base/json.ts';
import { type ColumnKind, type Leaf, leavesOf } from '../../contract/receipts/field.ts';
import { RECEIPT_FIELDS } from '../../contract/receipts/receipt-fields.ts';
import { parseRunId, type RunId } from '../../contract/run-id.ts';
import type { ReceiptColumns, ReceiptsTable } from '../schema.ts';
import { storedTags, tagsColumn } from '../tags.ts';
import { damaged, indexedText, storedObject } from '../text.ts';

type Camel<S> = S extends `${infer A}_${infer B}` ? `${A}${Capitalize<Camel<B>>}` : S;

/** The facets that lists filter by, as the rows of the receipt's table say: plane, status, engine, `keyId`, `startedAt` and so on. */
export type ReceiptFacets = {
  readonly [K in keyof ReceiptColumns as Camel<K>]: K extends 'tags' ? readonly string[] : ReceiptColumns[K];
};

/** A receipt and what lists filter by. The document is the truth; the facets are copies for the index. */
export interface StoredReceipt extends ReceiptFacets {
  readonly runId: RunId;
  /** Grows with every change of the run; an older revision never replaces a newer one. */
  readonly revision: number;
  /** The chain it is sealed in and its place there; null until the run has ended. */
  readonly chain: number | null;
  readonly sequence: number | null;
  readonly document: JsonObject;
}

/** Receipts of these statuses are stubs. */
export const ARCHIVED = 'archived';
export const DELETED = 'deleted';

/** A receipt to be stored: its document is JSON text in UTF-8 already. */
export interface NewReceipt extends Omit<StoredReceipt, 'document'> {
  readonly document: Buffer;
}

/** A column, the facet it holds, and the fields that fill it: the first one with a value does. */
interface FacetColumn {
  readonly name: keyof ReceiptColumns;
  readonly facet: keyof ReceiptFacets;
  readonly kind: ColumnKind;
  readonly leaves: readonly Leaf[];
}

const FACET_COLUMNS: readonly FacetColumn[] = [
  ...Map.groupBy(
    leavesOf(RECEIPT_FIELDS).filter(({ column }) => column !== undefined),
    ({ path: [name] }) => name,
  ),
].map(([name, leaves]) => ({
  name: name as keyof ReceiptColumns, // the type has exactly the rows with a column
  facet: name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase()) as keyof ReceiptFacets, // what `Camel` does
  kind: leaves[0]?.column ?? 'text',
  leaves,
}));

/**
 * Takes the facets out of something that holds a receipt; `readerOf` is asked once per field for what reads it there. They come in one
 * object with the members of `beside`, which the caller fills in: a row of them is made for every receipt.
 */
export function facetsReader<T, B extends object>(
  readerOf: (leaf: Leaf) => (from: T) => Json | undefined,
  beside: B,
): (from: T) => ReceiptFacets & B {
  const columns = FACET_COLUMNS.map(({ facet, kind, leaves }) => ({ facet, isTime: kind === 'time', readers: leaves.map(readerOf) }));
  // A copy of an object that has all members is made faster than one that gets them one by one.
  const blank = { ...beside, ...Object.fromEntries(FACET_COLUMNS.map(({ facet }): [string, Json] => [facet, null])) };
  return (from) => {
    const facets: Record<string, unknown> = { ...blank };
    for (const { facet, isTime, readers } of columns) {
      let value = readers[0]?.(from) ?? null;
      for (let at = 1; value === null && at < readers.length; at += 1) value = readers[at]?.(from) ?? null;
      facets[facet] = isTime && typeof value === 'string' ? Date.parse(value) : value;
    }
    return facets as unknown as ReceiptFacets & B; // one per column, of the type that its kind says
  };
}

/** How a facet stands in its column. */
const COLUMN_VALUES: Readonly<Record<ColumnKind, (value: Json) => string | number | null>> = {
  text: (value) => (value === null ? null : indexedText(String(value))),
  time: (value) => (value === null ? null : Number(value)),
  tags: (value) => tagsColumn(Array.isArray(value) ? value.map(String) : []),
  hash: (value) => (value === null ? null : String(value)),
};

interface Column {
  readonly type: 'text' | 'bigint';
  readonly value: (receipt: NewReceipt) => string | number | Buffer | null;
}

/** Every column with its type and source. The statements of both databases are built from it. */
export const RECEIPT_COLUMNS: ReadonlyMap<keyof ReceiptsTable, Column> = new Map<keyof ReceiptsTable, Column>([
  ['run_id', { type: 'text', value: (receipt) => runKey(receipt.runId) }],
  ['revision', { type: 'bigint', value: (receipt) => receipt.revision }],
  ...FACET_COLUMNS.map(({ name, facet, kind }): [keyof ReceiptsTable, Column] => {
    const made = COLUMN_VALUES[kind];
    return [name, { type: kind === 'time' ? 'bigint' : 'text', value: (receipt) => made(receipt[facet] as Json) }]; // lists of tags are not changed
  }),
  ['chain', { type: 'bigint', value: (receipt) => receipt.chain }],
  ['sequence', { type: 'bigint', value: (receipt) => receipt.sequence }],
  ['document', { type: 'text', value: (receipt) => receipt.document }],
]);

/** Columns whose value is not the one that the facets have, by name. */
export function differingColumns(row: ReceiptColumns, facets: ReceiptFacets): readonly string[] {
  return FACET_COLUMNS.filter(({ name, facet, kind }) => row[name] !== COLUMN_VALUES[kind](facets[facet] as Json)).map(({ name }) => name);
}

/** The primary key of a run: its hex digits without the `run_`. */
export function runKey(runId: RunId): string {
  return runId.slice('run_'.length);
}

export function receiptOf(row: Selectable<ReceiptsTable>): StoredReceipt {
  const runId = parseRunId(row.run_id);
  if (runId === undefined) throw damaged('run_id', row.run_id);
  const facets = FACET_COLUMNS.map(({ name, facet, kind }) => [facet, kind === 'tags' ? storedTags(row.tags) : row[name]]);
  return {
    runId,
    revision: row.revision,
    ...(Object.fromEntries(facets) as ReceiptFacets), // one per column
    chain: row.chain,
    sequence: row.sequence,
    document: storedObject('document', row.document),
  };
}
