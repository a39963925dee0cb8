import type { JsonObject } from '../../base/json.ts';
import { AbpError } from '../../contract/errors.ts';
import type { PendingReceipt } from '../../contract/receipts/receipt.ts';
import type { RunId } from '../../contract/run-id.ts';
import { findTurnRun } from '../../platform/turns/turn-receipt.ts';
import { getReceipt } from '../../store/receipts/receipts.ts';
import { AnyReceipt, ReceiptFidelity, ReceiptList, ReceiptListQuery, ReceiptParams, ReceiptQuery } from '../api/receipts.ts';
import { maySee, seenOnly } from '../auth/access.ts';
import type { Principal } from '../auth/principal.ts';
import type { Gateway } from '../gateway.ts';
import { Reply } from '../reply.ts';
import { defineRoute } from '../route.ts';
import { pageOfReceipts, pageOfRows } from '../rows/row-page.ts';
import { NotYetKnown, notYetKnown, runIdOf } from '../run-plane/unknown-run.ts';

const UNFINISHED = new Set(['pending', 'running']);
/** Nobody here hears of a run that is under way on another node. */
const POLL_MS = 500;

/** The receipt as it stands now; undefined for a run nobody knows or this caller may not see. */
async function current(gateway: Gateway, principal: Principal, run: RunId): Promise<JsonObject | PendingReceipt | undefined> {
  // Memory first: a run that is written while the database is asked is in neither, in the other order.
  const keyId = gateway.calls.live.keyOf(run);
  const pending = gateway.calls.live.pending(run);
  const row = await getReceipt(gateway.store, run);
  if (row !== undefined) return maySee(principal, row.keyId) ? row.document : undefined;
  if (keyId !== undefined) return maySee(principal, keyId) ? pending : undefined;
  // A turn may be under way elsewhere, or wait for somebody to work on it.
  const turn = await findTurnRun(gateway.store, run);
  return turn !== undefined && maySee(principal, turn.keyId) ? turn.pending : undefined;
}

/** The receipt, or the answer that it may come. */
async function afterWaiting(
  gateway: Gateway,
  principal: Principal,
  run: RunId,
  seconds: number,
): Promise<JsonObject | PendingReceipt | Reply> {
  const deadline = performance.now() + seconds * 1000;
  for (;;) {
    // The watch begins before the look, so that no change falls between the two.
    const watch = gateway.keeper.watch(run);
    try {
      const receipt = (await current(gateway, principal, run)) ?? (await notYetKnown(gateway, run));
      if (receipt === undefined) throw noReceipt(run);
      const left = deadline - performance.now();
      const goesOn = receipt instanceof Reply || UNFINISHED.has(String(receipt.status));
      if (!goesOn || left <= 0) return receipt;
      await watch.changed(gateway.calls.live.keyOf(run) === undefined ? Math.min(left, POLL_MS) : left);
    } finally {
      watch.end();
    }
  }
}

/** A caller who may not see a receipt is told the same as if there were none. */
export function noReceipt(run: RunId): AbpError {
  return new AbpError('not_found', `There is no receipt for ${run}.`, { run_id: run });
}

export const receiptRoutes = [
  defineRoute({
    method: 'GET',
    path: '/v1/receipts/{run_id}',
    summary: 'The receipt of a run. While it runs, its status without a hash; `wait` holds the answer until the end.',
    params: ReceiptParams,
    query: ReceiptQuery,
    response: AnyReceipt,
    accepted: NotYetKnown,
    handle: ({ gateway, principal, params, query }) => afterWaiting(gateway, principal, runIdOf(params.run_id), query.wait),
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/receipts/{run_id}/fidelity',
    summary: 'What happened to each field of a run’s request, as explain shows it beforehand.',
    params: ReceiptParams,
    query: ReceiptQuery,
    response: ReceiptFidelity,
    accepted: NotYetKnown,
    handle: async ({ gateway, principal, params, query }) => {
      const receipt = await afterWaiting(gateway, principal, runIdOf(params.run_id), query.wait);
      if (receipt instanceof Reply) return receipt;
      if ('removed_at' in receipt) throw new AbpError('not_found', `What the receipt of ${params.run_id} said was removed.`);
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
    query: ReceiptListQuery,
    response: ReceiptList,
    handle: async ({ gateway, principal, query: { view, ...query } }) => {
      const list = seenOnly(principal, query);
      if (view === 'row') return await pageOfRows(gateway.store, list);
      const { items, ...page } = await pageOfReceipts(gateway.store, list);
      return { ...page, items: items.map(({ receipt }) => receipt.document) };
    },
  }),
];
