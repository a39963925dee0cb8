import { z } from 'zod';

const text = z.string();
export const sha256 = text.regex(/^[0-9a-f]{64}$/, 'must be 64 lower-case hex digits');
export const runId = text.regex(/^run_[0-9a-f]{32}$/, 'must be run_ and 32 lower-case hex digits');

/** A command of the caller that judges the work of a run, and how it ended. */
export const CheckRecord = z.strictObject({
  command: text.describe('The command, as the caller wrote it.'),
  passed: z.boolean().describe('Whether it ended with exit code 0.'),
  exit_code: z.int().nullable().describe('Its exit code; null where it has none.'),
  reason: text.nullable().describe('Why it has no exit code: timeout, cancelled, or that it could not be started.'),
  ms: z.number().nonnegative().describe('How long it took.'),
});
export type CheckRecord = z.infer<typeof CheckRecord>;

/** One of several backends that worked on the same order. */
export const Entrant = z.strictObject({
  backend: text.describe('The backend.'),
  run_id: runId.nullable().describe('Its run; null where it could not start.'),
  status: z.enum(['completed', 'failed', 'cancelled', 'refused']).describe('How it ended; refused: it could not start.'),
  passed: z.boolean().nullable().describe('Whether its work passed the check; null where there was none.'),
  reason: text.nullable().describe('Why it did not complete.'),
});
export type Entrant = z.infer<typeof Entrant>;

/** The receipt that a sidecar made of its own run, and whether the hash in it is right. */
export const SidecarReceiptRecord = z.strictObject({
  sha256: sha256.describe('SHA-256 of that receipt in its RFC 8785 form.'),
  receipt_sha256: text.nullable().describe('The hash that it carries; null where it has none.'),
  verified: z.boolean().nullable().describe('Whether that hash is right by the rule of abp/v0.1; null where it has none.'),
  outcome: z.enum(['complete', 'partial', 'failed']).describe('How the sidecar says that it ended.'),
});
export type SidecarReceiptRecord = z.infer<typeof SidecarReceiptRecord>;
