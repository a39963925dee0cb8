import { z } from 'zod';
import { PendingReceipt, Receipt } from '../../contract/receipt.ts';

export const ReceiptParams = z.strictObject({ run_id: z.string() });

export const ReceiptQuery = z.strictObject({
  wait: z.coerce.number().min(0).max(60).default(0).describe('Seconds to wait for the end of the run.'),
});

export const AnyReceipt = z.union([Receipt, PendingReceipt]);

export const ReceiptListQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(1000).optional(),
  cursor: z.string().optional(),
  plane: z.string().optional(),
  engine: z.string().optional(),
  model: z.string().optional(),
  status: z.string().optional(),
  key: z.string().optional(),
  tag: z.string().optional(),
});

export const ReceiptList = z.strictObject({ items: z.array(AnyReceipt), next_cursor: z.string().optional() });

export const ReceiptFidelity = Receipt.pick({
  run_id: true,
  mode: true,
  compatibility: true,
  negotiation: true,
  emulations: true,
  fidelity: true,
});
