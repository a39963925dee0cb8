import type { JsonObject } from '../../base/json.ts';
import { AbpError } from '../../contract/errors.ts';
import type { PendingReceipt } from '../../contract/receipt.ts';
import { parseRunId, type RunId } from '../../contract/run-id.ts';
import { getReceipt, listReceipts } from '../../store/receipts.ts';
import { AnyReceipt, ReceiptFidelity, ReceiptList, ReceiptListQuery, ReceiptParams, ReceiptQuery } from '../api/receipts.ts';
import { maySee } from '../auth/access.ts';
import type { Principal } from '../auth/principal.ts';
import type { Gateway } from '../gateway.ts';
import { defineRoute } from '../route.ts';

const UNFINISHED = new Set(['pending', 'running']);

/** The receipt as it stands now; undefined for a run nobody knows or this caller may not see. */
async function current(gateway: Gateway, principal: Principal, run: RunId): Promise<JsonObject | PendingReceipt | undefined> {
  // Memory first: a run that is written while the database is asked is in neither, in the other order.
  const keyId = gateway.live.keyOf(run);
  const pending = gateway.live.pending(run);
  const row = await getReceipt(gateway.store, run);
  if (row !== undefined) return maySee(principal, row.keyId) ? row.document : undefined;
  return keyId !== undefined && maySee(principal, keyId) ? pending : undefined;
}

async function afterWaiting(gateway: Gateway, principal: Principal, run: RunId, seconds: number): Promise<JsonObject | PendingReceipt> {
  const deadline = performance.now() + seconds * 1000;
  for (;;) {
    // The watch begins before the look, so that no change falls between the two.
    const watch = gateway.keeper.watch(run);
    try {
      const receipt = await current(gateway, principal, run);
      if (receipt === undefined) throw new AbpError('not_found', `There is no receipt for ${run}.`, { run_id: run });
      const left = deadline - performance.now();
      if (!UNFINISHED.has(String(receipt.status)) || left <= 0) return receipt;
      await watch.changed(left);
    } finally {
      watch.end();
    }
  }
}

/** The run id in a path. */
export function runOf(text: string): RunId {
  const run = parseRunId(text);
  if (run === undefined) throw new AbpError('invalid_request', `"${text}" is not a run id: run_ and 32 hex digits, or a UUID.`);
  return run;
}

export const receiptRoutes = [
  defineRoute({
    method: 'GET',
    path: '/v1/receipts/{run_id}',
    summary: 'The receipt of a run. While it runs, its status without a hash; `wait` holds the answer until the end.',
    need: { kind: 'read' },
    params: ReceiptParams,
    query: ReceiptQuery,
    response: AnyReceipt,
    handle: ({ gateway, principal, params, query }) => afterWaiting(gateway, principal, runOf(params.run_id), query.wait),
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/receipts/{run_id}/fidelity',
    summary: 'What happened to each field of a run’s request, as explain shows it beforehand.',
    need: { kind: 'read' },
    params: ReceiptParams,
    query: ReceiptQuery,
    response: ReceiptFidelity,
    handle: async ({ gateway, principal, params, query }) => {
      const receipt = await afterWaiting(gateway, principal, runOf(params.run_id), query.wait);
      if (!('mode' in receipt))
        throw new AbpError('conflict', 'The run has just begun; ask again, or with wait.', { run_id: receipt.run_id ?? '' });
      const { run_id, mode, compatibility, negotiation, emulations, fidelity } = receipt;
      return { run_id, mode, compatibility, negotiation, emulations, fidelity };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/receipts',
    summary: 'Receipts, newest first; a caller sees those of its own runs.',
    need: { kind: 'read' },
    query: ReceiptListQuery,
    response: ReceiptList,
    handle: async ({ gateway, principal, query }) => {
      const own = principal.kind === 'key' && principal.scopes.admin !== true ? principal.key.id : query.key;
      const page = await listReceipts(gateway.store, { ...query, ...(own === undefined ? {} : { key: own }) });
      const items = page.items.filter((row) => maySee(principal, row.keyId)).map((row) => row.document);
      return { items, ...(page.next_cursor === undefined ? {} : { next_cursor: page.next_cursor }) };
    },
  }),
];
