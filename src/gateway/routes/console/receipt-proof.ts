import { z } from 'zod';
import { canonicalJson } from '../../../base/canonical-json.ts';
import { parseJsonObject } from '../../../base/json.ts';
import { AbpError } from '../../../contract/errors.ts';
import { SealKey } from '../../../contract/receipts/chain.ts';
import { publishedKeys } from '../../../receipts/seal/published-keys.ts';
import { chainOf } from '../../../store/receipts/chain.ts';
import { getReceipt } from '../../../store/receipts/receipts.ts';
import { ReceiptParams } from '../../api/receipts.ts';
import { maySee } from '../../auth/access.ts';
import { defineRoute } from '../../route.ts';
import { noReceipt, runOf } from '../receipts.ts';

/** Entries between a receipt and the head that covers it; more are not needed, because heads are signed with every batch. */
const MOST_LINES = 2000;

const Proof = z.strictObject({
  lines: z
    .array(z.string())
    .describe('Lines of the export from the entry before this one to the next signed head; receipts of others as links.'),
  keys: z.array(SealKey),
});

/** Of a receipt that is not the one in question only its place and hash are told: that is all the chain needs. */
function shownLine(text: string, run: string): string {
  const line = parseJsonObject(text);
  if (line === undefined || line.kind !== undefined || line.run_id === run) return text;
  const seal = line.seal as { sequence: number; hash: string }; // every receipt of an export is sealed
  return canonicalJson({ kind: 'link', sequence: seal.sequence, hash: seal.hash });
}

export const receiptProofRoutes = [
  defineRoute({
    method: 'GET',
    path: '/v1/receipts/{run_id}/proof',
    summary: 'Everything that somebody needs to check the seal of a receipt without trusting this server’s word.',
    need: { kind: 'read' },
    params: ReceiptParams,
    response: Proof,
    handle: async ({ gateway, principal, params }) => {
      const run = runOf(params.run_id);
      const row = await getReceipt(gateway.store, run);
      if (row === undefined || !maySee(principal, row.keyId)) throw noReceipt(run);
      const chain = await chainOf(gateway.store, gateway.home.nodeId);
      if (row.sequence === null) throw new AbpError('conflict', 'The run has not ended; its receipt is sealed then.', { run_id: run });
      if (row.chain !== chain.number)
        throw new AbpError('not_found', 'Another node has sealed this receipt; ask it for the proof.', { run_id: run });
      const { exportLines } = await import('../../../receipts/export.ts');
      const lines: string[] = [];
      const range = { filter: {}, from: Math.max(1, row.sequence - 1), to: row.sequence };
      for await (const page of exportLines(gateway.store, chain, range)) {
        for (const line of page) lines.push(shownLine(line, run));
        if (lines.length >= MOST_LINES) break;
      }
      return { lines, keys: await publishedKeys(gateway.store) };
    },
  }),
];
