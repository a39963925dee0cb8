import type { JsonObject } from '../base/json.ts';
import type { Receipt } from '../contract/receipt.ts';
import type { RunId } from '../contract/run-id.ts';
import type { StoredReceipt } from '../store/receipt-columns.ts';

/** Revisions of a run: it began, it ended. */
const REVISION: Readonly<Record<Receipt['status'], number>> = {
  pending: 1,
  running: 1,
  completed: 2,
  failed: 2,
  cancelled: 2,
  archived: 3,
};

/** The row a receipt is stored as. */
export function storedReceipt(receipt: Receipt): StoredReceipt {
  return {
    runId: receipt.run_id as RunId, // the contract's pattern for run_id is RunId's
    revision: REVISION[receipt.status],
    plane: receipt.plane,
    status: receipt.status,
    dialect: receipt.dialect,
    engine: receipt.engine,
    model: receipt.model.upstream ?? receipt.model.requested,
    mode: receipt.mode,
    keyId: receipt.key_id,
    startedAt: receipt.timing.received_at_ms,
    completedAt: receipt.completed_at === null ? null : Date.parse(receipt.completed_at),
    tags: receipt.tags,
    receiptSha256: receipt.receipt_sha256,
    document: receipt as unknown as JsonObject, // a receipt holds JSON values only
  };
}

/** The receipt of a row. Rows are written by `storedReceipt` alone. */
export function receiptOfRow(row: StoredReceipt): Receipt {
  return row.document as unknown as Receipt; // see above
}
