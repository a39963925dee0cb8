import { z } from 'zod';
import { JsonRecord } from '../json-value.ts';
import { Seal } from './parts.ts';

const text = z.string();
const time = z.iso.datetime({ offset: true });

/** Somebody changed something, or read what belongs to others. */
export const AuditRecord = z.strictObject({
  id: text.describe('Of the record.'),
  at: time.describe('When it was asked for.'),
  by: z
    .strictObject({
      kind: text.describe('Who asked: key, token, local, paired, or system for the server itself.'),
      id: text.nullable().describe('Which key or browser.'),
    })
    .describe('Who did it.'),
  action: text.describe('Such as key.create or body.read.'),
  target: text.nullable().describe('The id of what was changed or read, where it has one.'),
  outcome: z
    .enum(['done', 'failed', 'unknown'])
    .describe('failed: it was refused or broke, see error; unknown: the process ended before it could say.'),
  error: text.nullable().describe('The code of the error.'),
  details: JsonRecord.describe('What was asked for, without secrets and without contents of conversations.'),
});
export type AuditRecord = z.infer<typeof AuditRecord>;

/** An entry of the chain: what was changed or read since the last one. */
export const AuditEntry = z.strictObject({
  kind: z.literal('audit').describe('Changes, and reading of what belongs to others.'),
  node: text.describe('The node whose chain this is.'),
  at: time.describe('When it was sealed.'),
  records: z.array(AuditRecord).describe('What happened, in this order.'),
  seal: Seal.describe('The place in the chain.'),
});
export type AuditEntry = z.infer<typeof AuditEntry>;
