import type { JsonObject } from '../../../base/json.ts';
import { AbpError } from '../../../contract/errors.ts';
import { ChainVerification } from '../../../contract/receipts/chain-verification.ts';
import { publishedKeys, sealKeysFolder } from '../../../receipts/seal/seal-keys.ts';
import { listChains } from '../../../store/receipts/chain.ts';
import type { StoredReceipt } from '../../../store/receipts/receipt-columns.ts';
import { getReceipt, type ReceiptFilter } from '../../../store/receipts/receipts.ts';
import { ChainRangeQuery, ReceiptDiffQuery, ReceiptDiffView, ReceiptParams, ReceiptProof } from '../../api/receipts.ts';
import { RunReport } from '../../api/reports.ts';
import { maySee, seenOnly } from '../../auth/access.ts';
import type { Principal } from '../../auth/principal.ts';
import type { Gateway } from '../../gateway.ts';
import { defineRoute } from '../../route.ts';
import { runIdOf } from '../../run-plane/unknown-run.ts';
import { noReceipt } from '../receipts.ts';

/** The row of a run that the caller may see. */
async function visible(gateway: Gateway, principal: Principal, text: string): Promise<StoredReceipt> {
  const run = runIdOf(text);
  const row = await getReceipt(gateway.store, run);
  if (row === undefined || !maySee(principal, row.keyId)) throw noReceipt(run);
  return row;
}

async function lastLineBefore(gateway: Gateway, principal: Principal, row: { chain: number; sequence: number }): Promise<string | null> {
  if (row.sequence === 1) return null;
  const lines = await linesOf(gateway, principal, { chain: row.chain, from: row.sequence - 1, to: row.sequence - 1 });
  return lines[0] ?? null;
}

/** Lines of a chain; entries that are not the caller's are links. */
async function linesOf(
  { store }: Gateway,
  principal: Principal,
  { chain: number, from, to }: { chain: number; from: number; to: number },
): Promise<readonly string[]> {
  const chain = (await listChains(store)).find((one) => one.number === number);
  if (chain === undefined) throw new AbpError('internal', 'the chain of this receipt is gone from the database');
  const { exportRange } = await import('../../../receipts/export.ts');
  return await exportRange(store, chain, { filter: seenOnly<ReceiptFilter>(principal, {}), from, to });
}

export const receiptProofRoutes = [
  defineRoute({
    method: 'GET',
    path: '/v1/receipts/{run_id}/report',
    summary:
      'A run as people read it: the first line of its prompt, its session, the arguments of its tool calls, lines of files, and what each of its calls came to.',
    params: ReceiptParams,
    response: RunReport,
    handle: async ({ gateway, principal, params }) => {
      const row = await visible(gateway, principal, params.run_id);
      await gateway.audit.reads(principal, row.keyId, { action: 'body.read', target: row.runId, details: { part: 'report' } });
      const { runReport } = await import('../../report/run-report.ts');
      return await runReport({ store: gateway.store, shelf: gateway.shelf, homePath: gateway.home.installation }, row);
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/receipts/{run_id}/proof',
    summary:
      'What a caller needs to check a seal by itself: the lines of the chain from the receipt to the next signed head, the entry before, and the keys.',
    params: ReceiptParams,
    response: ReceiptProof,
    handle: async ({ gateway, principal, params }) => {
      const row = await visible(gateway, principal, params.run_id);
      const { chain, sequence } = row;
      if (chain === null || sequence === null) {
        const { notSealed } = await import('../../../receipts/verify/verify-stored.ts');
        throw notSealed(row);
      }
      const lines = await linesOf(gateway, principal, { chain, from: sequence, to: sequence });
      const before = await lastLineBefore(gateway, principal, { chain, sequence });
      const node = (await listChains(gateway.store)).find(({ number }) => number === chain)?.node;
      const keys = (await publishedKeys(gateway.store)).filter((key) => key.node === node);
      return { run_id: row.runId, sequence, before, lines: [...lines], keys };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/receipts/diff',
    summary: 'How two receipts differ, and whether in what the runs did or only in what is of the moment: ids, times, cost.',
    query: ReceiptDiffQuery,
    response: ReceiptDiffView,
    handle: async ({ gateway, principal, query }) => {
      const { diffReceipts } = await import('../../../receipts/diff.ts');
      const [a, b] = [await visible(gateway, principal, query.a), await visible(gateway, principal, query.b)];
      const { same, content, incidental } = diffReceipts(a.document, b.document);
      const members = (changes: typeof content, ofTheMoment: boolean): JsonObject[] =>
        changes.map(({ path, before = null, after = null }) => ({ path, a: before, b: after, of_the_moment: ofTheMoment }));
      return { equal: same, members: [...members(content, false), ...members(incidental, true)] };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/receipts/verify',
    summary:
      'Checks this node’s chain, or a range of it, as the database holds it: hashes, links, signatures, and the columns that lists use.',
    query: ChainRangeQuery,
    response: ChainVerification,
    handle: async ({ gateway, query }) => {
      const { verifyHome } = await import('../../../receipts/verify/verify-home.ts');
      const { home, store } = gateway;
      return await verifyHome(store, { node: home.nodeId, keysFolder: sealKeysFolder(home.path) }, query);
    },
  }),
];
