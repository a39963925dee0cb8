import { z } from 'zod';
import type { FieldTable } from './field.ts';
import { PARTS, type Parts } from './parts.ts';
import { RECEIPT_FIELDS } from './receipt-fields.ts';

type PartShape<P> = { -readonly [K in keyof P]: P[K] extends { readonly schema: (parts: Parts) => infer S extends z.ZodType } ? S : never };

/** The shape of the schema that a table describes. */
type Shape<T> = {
  -readonly [K in keyof T]: T[K] extends { readonly parts: infer P }
    ? z.ZodObject<PartShape<P>, z.core.$strict>
    : T[K] extends { readonly schema: (parts: Parts) => infer S extends z.ZodType }
      ? S
      : never;
};

function shapeOf<const T extends FieldTable>(table: T): Shape<T> {
  const shape = Object.entries(table).map(([name, row]) => [
    name,
    'parts' in row ? z.strictObject(shapeOf(row.parts)).describe(row.about) : row.schema(PARTS),
  ]);
  return Object.fromEntries(shape) as Shape<T>; // the same members, each with its own schema
}

/** The record of one run. */
export const Receipt = z.strictObject(shapeOf(RECEIPT_FIELDS));
export type Receipt = z.infer<typeof Receipt>;

/** The answer to a GET while the run has not ended. */
export const PendingReceipt = z.strictObject({
  id: z.uuid().describe('The run as a UUID.'),
  run_id: PARTS.runId.describe('The run as it stands in X-ABP-Run-Id.'),
  status: z.enum(['pending', 'running']).describe('Where the run stands.'),
  started_at: PARTS.time.describe('When the request arrived.'),
});
export type PendingReceipt = z.infer<typeof PendingReceipt>;
