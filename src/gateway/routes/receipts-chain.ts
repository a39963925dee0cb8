import { Readable } from 'node:stream';
import { ownTurn } from '../../base/bounded/turns.ts';
import { parseJsonObject } from '../../base/json.ts';
import { AbpError } from '../../contract/errors.ts';
import { SignedHead } from '../../contract/receipts/chain.ts';
import { ChainVerification } from '../../contract/receipts/chain-verification.ts';
import type { RunId } from '../../contract/run-id.ts';
import { publishedKeys, sealKeysFolder } from '../../receipts/seal/seal-keys.ts';
import { chainOf, findHead } from '../../store/receipts/chain.ts';
import { findLateEnd } from '../../store/receipts/late-ends.ts';
import { getReceipt } from '../../store/receipts/receipts.ts';
import {
  HeadQuery,
  KeyChange,
  LateEndView,
  ReceiptExportQuery,
  ReceiptParams,
  ReceiptRemoval,
  RemovedReceipts,
  SealKeyList,
} from '../api/receipts.ts';
import { maySee } from '../auth/access.ts';
import type { Principal } from '../auth/principal.ts';
import type { Gateway } from '../gateway.ts';
import { Reply } from '../reply.ts';
import { defineRoute } from '../route.ts';
import { NotYetKnown, notYetKnown, runIdOf } from '../run-plane/unknown-run.ts';
import { noReceipt } from './receipts.ts';

const MOST_NAMED = 1000;

async function isVisible(gateway: Gateway, principal: Principal, run: RunId): Promise<boolean> {
  const row = await getReceipt(gateway.store, run);
  return row !== undefined && maySee(principal, row.keyId);
}

const reading = [
  defineRoute({
    method: 'GET',
    path: '/v1/receipts/{run_id}/verify',
    summary: 'Checks a receipt: its own hash, and its link to the next signed head of the chain.',
    params: ReceiptParams,
    response: ChainVerification,
    accepted: NotYetKnown,
    handle: async ({ gateway, principal, params }) => {
      const run = runIdOf(params.run_id);
      if (!(await isVisible(gateway, principal, run))) {
        const answer = await notYetKnown(gateway, run);
        if (answer === undefined) throw noReceipt(run);
        return answer;
      }
      // Loaded on demand, like the export: most servers verify nothing.
      const { verifyRun } = await import('../../receipts/verify/verify-stored.ts');
      const { tailProblems, withProblems } = await import('../../receipts/verify/verify-home.ts');
      const { home, store } = gateway;
      const found = await verifyRun(store, run);
      return withProblems(found, await tailProblems(store, { node: home.nodeId, keysFolder: sealKeysFolder(home.path) }));
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/receipts/{run_id}/late-end',
    summary: 'How a run ended by the word of its own node, which was taken for lost while another one closed the run.',
    params: ReceiptParams,
    response: LateEndView,
    handle: async ({ gateway, principal, params }) => {
      const run = runIdOf(params.run_id);
      if (!(await isVisible(gateway, principal, run))) throw noReceipt(run);
      const late = await findLateEnd(gateway.store, run);
      if (late === undefined) throw new AbpError('not_found', `Of ${run} nothing is known beyond its receipt.`, { run_id: run });
      return { ...late.document, entry: late.sequence };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/receipts/keys',
    summary: 'Public keys that receipts are signed with, the retired ones too.',
    response: SealKeyList,
    handle: async ({ gateway }) => ({ items: await publishedKeys(gateway.store) }),
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/receipts/head',
    summary: 'The last signed head of this node’s chain, or that of an entry. Keep it elsewhere: it shows when receipts vanish.',
    query: HeadQuery,
    response: SignedHead,
    handle: async ({ gateway, query }) => {
      const chain = await chainOf(gateway.store, gateway.home.nodeId);
      const head = await findHead(gateway.store, chain.number, query.at);
      if (head === undefined)
        throw new AbpError('not_found', query.at === undefined ? 'Nothing has been sealed yet.' : `No head covers entry ${query.at}.`);
      return parseJsonObject(head.document);
    },
  }),
];

const administration = [
  defineRoute({
    method: 'GET',
    path: '/v1/receipts/export',
    summary: 'This node’s chain as JSON lines: whole, a range, or the receipts that match, with links in place of the others.',
    query: ReceiptExportQuery,
    handle: async ({ gateway, query: { from, to, ...filter } }) => {
      const { exportLines } = await import('../../receipts/export.ts');
      const chain = await chainOf(gateway.store, gateway.home.nodeId);
      const pages = exportLines(gateway.store, chain, { filter, from, to });
      return new Reply(200, Readable.from(textOf(pages)), { 'content-type': 'application/jsonl; charset=utf-8' });
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/v1/receipts/keys/rotate',
    summary: 'Signs with a new key from now on; both keys sign the change.',
    audit: { action: 'seal_key.rotate' },
    response: KeyChange,
    handle: async ({ gateway }) => {
      const { oldKey, newKey } = await gateway.keeper.rotate();
      return { old_key: oldKey, new_key: newKey };
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/v1/receipts/remove',
    summary: 'Removes the content of receipts and their recordings; stubs with places and hashes stay, and the chain still verifies.',
    audit: { action: 'receipt.remove', body: true },
    body: ReceiptRemoval,
    response: RemovedReceipts,
    handle: async ({ gateway, body: { before, ...order } }) => {
      if (before === undefined && order.key === undefined && order.tag === undefined) {
        throw new AbpError('invalid_request', 'Say which receipts: key, tag or before.');
      }
      const runs = await gateway.keeper.remove({ ...order, endedBefore: before });
      return { count: runs.length, run_ids: runs.slice(0, MOST_NAMED) };
    },
  }),
];

/** Receipts may have megabytes each; so much is written between two turns of the event loop. */
const PIECE = 256 * 1024;

async function* textOf(pages: AsyncIterable<readonly string[]>): AsyncGenerator<string> {
  for await (const lines of pages) {
    let text = '';
    for (const line of lines) {
      text += `${line}\n`;
      if (text.length < PIECE) continue;
      yield text;
      text = '';
      await ownTurn();
    }
    if (text !== '') yield text;
  }
}

export const receiptChainRoutes = [...reading, ...administration];
