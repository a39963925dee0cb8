import { z } from 'zod';
import { JsonValue } from '../../contract/json-value.ts';
import { ReceiptStub, SealKey } from '../../contract/receipts/chain.ts';
import { LateEnd } from '../../contract/receipts/late-end.ts';
import { PendingReceipt, Receipt } from '../../contract/receipts/receipt.ts';
import { counted, listing, RunRow, rowFilters, runFilters, time } from './run-rows.ts';

export const ReceiptParams = z.strictObject({ run_id: z.string() });

export const ReceiptQuery = z.strictObject({
  wait: z.coerce.number().min(0).max(60).default(0).describe('Seconds to wait for the end of the run.'),
});

export const AnyReceipt = z.union([Receipt, PendingReceipt, ReceiptStub]);

const filters = {
  ...runFilters,
  content: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .optional()
    .describe('Runs that did the same: their receipt_sha256.'),
};

export const ReceiptListQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(1000).optional(),
  cursor: z.string().optional(),
  ...filters,
  ...rowFilters,
  ...listing,
  view: z.enum(['receipt', 'row']).default('receipt').describe('row: a line of each, as /v1/runs?view=row shows runs.'),
});

const sequence = z.coerce.number().int().positive();

export const ReceiptExportQuery = z.strictObject({
  ...filters,
  from: sequence.optional().describe('First entry of the chain.'),
  to: sequence.optional().describe('Last entry of the chain; the export goes on to the next signed head.'),
});

export const ChainRangeQuery = z.strictObject({
  from: sequence.optional().describe('First entry of the chain.'),
  to: sequence.optional().describe('Last entry of the chain.'),
});

export const ReceiptProof = z.strictObject({
  run_id: z.string(),
  sequence: z.int().describe('The place of the receipt in the chain of its node.'),
  before: z.string().nullable().describe('The line of the entry before; null for the first one.'),
  lines: z
    .array(z.string())
    .describe('Lines of the export, from the receipt to the next signed head. Receipts of other callers are links.'),
  keys: z.array(SealKey).describe('Keys of the node.'),
});

export const ReceiptDiffQuery = z.strictObject({ a: z.string().describe('A run id.'), b: z.string().describe('Another one.') });

export const ReceiptDiffView = z.strictObject({
  equal: z.boolean().describe('The runs did the same: their content hashes are equal.'),
  members: z
    .array(
      z.strictObject({
        path: z.string(),
        a: JsonValue.describe('Null where that receipt has none.'),
        b: JsonValue,
        of_the_moment: z.boolean().describe('It is no part of what the run did: ids, times, cost.'),
      }),
    )
    .describe('Values that differ.'),
});

export const HeadQuery = z.strictObject({
  at: z.coerce.number().int().positive().optional().describe('The head that covers this entry: its own, or the first one after it.'),
});

export const ReceiptStreamQuery = z.strictObject({
  after: z.string().optional().describe('A place (the id of an event) or a run id to go on after, like the header Last-Event-ID.'),
});

export const ReceiptRemoval = z.strictObject({
  status: z.enum(['archived', 'deleted']).describe('archived keeps engine and model for lists; deleted keeps neither.'),
  reason: z.string().min(1).max(200).default('asked for').describe('Stands in the chain.'),
  key: z.string().optional().describe('Receipts of this key.'),
  tag: z.string().optional().describe('Receipts with this tag.'),
  before: time.optional().describe('Receipts of runs that ended before this time.'),
});

export const RemovedReceipts = z.strictObject({ count: z.int(), run_ids: z.array(z.string()).describe('The first thousand.') });
export const SealKeyList = z.strictObject({ items: z.array(SealKey) });
export const KeyChange = z.strictObject({ old_key: z.string(), new_key: z.string() });

export const ReceiptList = z.strictObject({
  items: z.array(z.union([AnyReceipt, RunRow])),
  next_cursor: z.string().optional(),
  ...counted,
});

export const LateEndView = LateEnd.extend({ entry: z.int().describe('The entry of the node’s chain that has its hash.') });

export const ReceiptFidelity = Receipt.pick({
  run_id: true,
  mode: true,
  compatibility: true,
  negotiation: true,
  emulations: true,
  fidelity: true,
});
