import { newRunId, type RunId } from '../../src/contract/run-id.ts';
import type { NewReceipt, StoredReceipt } from '../../src/store/receipts/receipt-columns.ts';

/** A finished gateway receipt with the given fields changed. */
export function receipt(changes: Partial<StoredReceipt> = {}): StoredReceipt {
  return {
    runId: newRunId(),
    revision: 1,
    plane: 'gateway',
    status: 'completed',
    dialect: 'claude',
    engine: 'sim',
    model: 'sim-1',
    mode: 'passthrough',
    keyId: 'key_1',
    startedAt: 1_800_000_000_000,
    completedAt: 1_800_000_000_250,
    tags: [],
    receiptSha256: 'ab'.repeat(32),
    chain: null,
    sequence: null,
    document: { contract_version: 'abp/v0.1', usage: { input_tokens: 12 } },
    ...changes,
  };
}

/** The same as it is saved. */
export function unsaved(stored: StoredReceipt): NewReceipt {
  return { ...stored, document: Buffer.from(JSON.stringify(stored.document), 'utf8') };
}

/** A run id of a time. */
export function runAt(time: number): RunId {
  const digits = newRunId().slice('run_'.length + 12);
  return `run_${time.toString(16).padStart(12, '0')}${digits}` as RunId; // the digits of a time in the place of another
}
