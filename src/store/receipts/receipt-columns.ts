import type { Selectable } from 'kysely';
import type { JsonObject } from '../../base/json.ts';
import { parseRunId, type RunId } from '../../contract/run-id.ts';
import type { ReceiptsTable } from '../schema.ts';
import { storedTags, tagsColumn } from '../tags.ts';
import { damaged, indexedOrNull, indexedText, storedObject } from '../text.ts';

/** A receipt and what lists filter by. The document is the truth; the other fields are copies for the index. */
export interface StoredReceipt {
  readonly runId: RunId;
  /** Grows with every change of the run; an older revision never replaces a newer one. */
  readonly revision: number;
  readonly plane: string;
  readonly status: string;
  readonly dialect: string | null;
  readonly engine: string | null;
  readonly model: string | null;
  readonly mode: string | null;
  readonly keyId: string | null;
  readonly startedAt: number;
  readonly completedAt: number | null;
  readonly tags: readonly string[];
  /** Null until the run has ended. */
  readonly receiptSha256: string | null;
  /** The chain it is sealed in and its place there; null until the run has ended. */
  readonly chain: number | null;
  readonly sequence: number | null;
  readonly document: JsonObject;
}

/** What is left of these is a stub. */
export const ARCHIVED = 'archived';
export const DELETED = 'deleted';

/** A receipt to be stored: its document is JSON text in UTF-8 already. */
export interface NewReceipt extends Omit<StoredReceipt, 'document'> {
  readonly document: Buffer;
}

interface Column {
  readonly type: 'text' | 'bigint';
  readonly value: (receipt: NewReceipt) => string | number | Buffer | null;
}

/** Every column with its type and source. The statements of both databases are built from it. */
export const RECEIPT_COLUMNS: Readonly<Record<keyof ReceiptsTable, Column>> = {
  run_id: { type: 'text', value: (receipt) => runKey(receipt.runId) },
  revision: { type: 'bigint', value: (receipt) => receipt.revision },
  plane: { type: 'text', value: (receipt) => indexedText(receipt.plane) },
  status: { type: 'text', value: (receipt) => indexedText(receipt.status) },
  dialect: { type: 'text', value: (receipt) => indexedOrNull(receipt.dialect) },
  engine: { type: 'text', value: (receipt) => indexedOrNull(receipt.engine) },
  model: { type: 'text', value: (receipt) => indexedOrNull(receipt.model) },
  mode: { type: 'text', value: (receipt) => indexedOrNull(receipt.mode) },
  key_id: { type: 'text', value: (receipt) => indexedOrNull(receipt.keyId) },
  started_at: { type: 'bigint', value: (receipt) => receipt.startedAt },
  completed_at: { type: 'bigint', value: (receipt) => receipt.completedAt },
  tags: { type: 'text', value: (receipt) => tagsColumn(receipt.tags) },
  receipt_sha256: { type: 'text', value: (receipt) => receipt.receiptSha256 },
  chain: { type: 'bigint', value: (receipt) => receipt.chain },
  sequence: { type: 'bigint', value: (receipt) => receipt.sequence },
  document: { type: 'text', value: (receipt) => receipt.document },
};

/** The primary key of a run: its hex digits without the `run_`. */
export function runKey(runId: RunId): string {
  return runId.slice('run_'.length);
}

export function receiptOf(row: Selectable<ReceiptsTable>): StoredReceipt {
  const runId = parseRunId(row.run_id);
  if (runId === undefined) throw damaged('run_id', row.run_id);
  return {
    runId,
    revision: row.revision,
    plane: row.plane,
    status: row.status,
    dialect: row.dialect,
    engine: row.engine,
    model: row.model,
    mode: row.mode,
    keyId: row.key_id,
    startedAt: row.started_at,
    completedAt: row.completed_at,
    tags: storedTags(row.tags),
    receiptSha256: row.receipt_sha256,
    chain: row.chain,
    sequence: row.sequence,
    document: storedObject('document', row.document),
  };
}
