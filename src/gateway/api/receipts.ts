import { z } from 'zod';
import { ReceiptStub, SealKey } from '../../contract/receipts/chain.ts';
import { LateEnd } from '../../contract/receipts/late-end.ts';
import { PendingReceipt, Plane, Receipt, RunStatus } from '../../contract/receipts/receipt.ts';

export const ReceiptParams = z.strictObject({ run_id: z.string() });

export const ReceiptQuery = z.strictObject({
  wait: z.coerce.number().min(0).max(60).default(0).describe('Seconds to wait for the end of the run.'),
});

export const AnyReceipt = z.union([Receipt, PendingReceipt, ReceiptStub]);

const time = z
  .string()
  .refine((text) => !Number.isNaN(Date.parse(text)), { error: 'is not a date or a time' })
  .transform((text) => Date.parse(text));

const filters = {
  plane: Plane.optional(),
  engine: z.string().optional(),
  model: z.string().optional(),
  status: RunStatus.optional(),
  key: z.string().optional().describe('Id of the key that made the call.'),
  tag: z.string().optional(),
  since: time.optional().describe('Started at this time or later; a date or an RFC 3339 time.'),
  until: time.optional().describe('Started before this time.'),
};

export const ReceiptListQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(1000).optional(),
  cursor: z.string().optional(),
  ...filters,
});

const sequence = z.coerce.number().int().positive();

export const ReceiptExportQuery = z.strictObject({
  ...filters,
  from: sequence.optional().describe('First entry of the chain.'),
  to: sequence.optional().describe('Last entry of the chain; the export goes on to the next signed head.'),
});

export const ReceiptStreamQuery = z.strictObject({
  after: z.string().optional().describe('A sequence or a run id to go on after, like the header Last-Event-ID.'),
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

export const ReceiptList = z.strictObject({ items: z.array(AnyReceipt), next_cursor: z.string().optional() });

export const LateEndView = LateEnd.extend({ entry: z.int().describe('The entry of the node’s chain that has its hash.') });

export const ReceiptFidelity = Receipt.pick({
  run_id: true,
  mode: true,
  compatibility: true,
  negotiation: true,
  emulations: true,
  fidelity: true,
});
