import type { JsonObject } from '../../src/base/json.ts';
import { newRunId } from '../../src/contract/run-id.ts';
import { RECEIPT_COLUMNS, runKey, type StoredReceipt } from '../../src/store/receipts/receipt-columns.ts';
import { dayOfRun } from '../../src/store/receipts/run-days.ts';
import type { Store } from '../../src/store/store.ts';
import { receipt, unsaved } from '../store/receipt-fixture.ts';

/** What a test says of a call; the rest is the same for all. */
export interface SaidCall extends Partial<Pick<StoredReceipt, 'engine' | 'keyId' | 'status' | 'mode' | 'tags' | 'plane'>> {
  readonly at: number;
  readonly model?: string;
  readonly tokens?: readonly [number, number] | null;
  readonly nanoUsd?: number | null;
  readonly firstByteMs?: number;
  readonly error?: string;
}

/** A sealed receipt of a call. */
export function sealedCall(said: SaidCall, sequence: number): StoredReceipt {
  const { at, model = 'm', tokens = [10, 5], nanoUsd = null, firstByteMs = 20, error, ...facets } = said;
  const document: JsonObject = {
    model: { requested: model, upstream: model },
    usage: tokens === null ? null : { input_tokens: tokens[0], output_tokens: tokens[1], cache_read_tokens: 1, thinking_tokens: 2 },
    cost: nanoUsd === null ? null : { nano_usd: nanoUsd, price_version: 'test' },
    timing: { first_byte_ms: firstByteMs, last_byte_ms: firstByteMs * 2 },
    error: error === undefined ? null : { code: error, message: 'no' },
    fidelity: facets.mode === 'mapped' ? [{ path: 'a', fate: 'dropped' }] : [],
    parent_run_id: null,
  };
  return receipt({
    runId: newRunId(),
    status: 'completed',
    keyId: null,
    ...facets,
    model,
    startedAt: at,
    completedAt: at + 50,
    receiptSha256: null,
    chain: 1,
    sequence,
    document,
  });
}

/** Puts sealed receipts into the table as they are, and the chain behind them. */
export async function insertSealed(store: Store, receipts: readonly StoredReceipt[]): Promise<void> {
  const rows = receipts
    .map(unsaved)
    .map((one) =>
      Object.fromEntries([
        ...[...RECEIPT_COLUMNS].map(([name, { value }]) => [name, name === 'document' ? String(value(one)) : value(one)]),
        ...(store.kind === 'postgres' ? [['day', dayOfRun(runKey(one.runId))]] : []),
      ]),
    );
  await store.db
    .insertInto('receipts')
    .values(rows as never) // one member per column of the table
    .execute();
  const sequence = receipts.at(-1)?.sequence ?? 0;
  await store.db
    .insertInto('chains')
    .values({ number: 1, node: 'node_a', sequence, hash: '0'.repeat(64), key_id: 'k' })
    .onConflict((conflict) => conflict.column('number').doUpdateSet({ sequence }))
    .execute();
}
