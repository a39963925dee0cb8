import { z } from 'zod';
import { AuditRecord } from '../../contract/receipts/audit.ts';
import { time } from './run-rows.ts';

export const AuditQuery = z.strictObject({
  since: time.optional().describe('At this time or later; a date or an RFC 3339 time.'),
  until: time.optional().describe('Before this time.'),
  action: z.string().optional().describe('Such as key.create, or key.* for all about keys.'),
  by: z.string().optional().describe('The id of a key, or token, local, paired, system.'),
  target: z.string().optional().describe('The id of what was changed or read.'),
  limit: z.coerce.number().int().min(1).max(1000).optional(),
  cursor: z.string().optional(),
});

export const AuditList = z.strictObject({
  items: z.array(
    AuditRecord.extend({
      node: z.string().describe('The node that sealed it.'),
      sequence: z.int().describe('The entry of that node’s chain that holds it.'),
    }),
  ),
  next_cursor: z.string().optional(),
});
