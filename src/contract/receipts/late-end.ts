import { z } from 'zod';
import { Seal } from './parts.ts';
import { Receipt } from './receipt.ts';
import { LATE_END_MEMBERS, type LateEndMember } from './receipt-fields.ts';

const text = z.string();
const sha256 = text.regex(/^[0-9a-f]{64}$/, 'must be 64 lower-case hex digits');

/** How a run ended by the word of its own node, which came back after another one had closed the run as interrupted. */
export const LateEnd = Receipt.pick(
  Object.fromEntries(LATE_END_MEMBERS.map((name) => [name, true])) as Record<LateEndMember, true>, // one for each
);
export type LateEnd = z.infer<typeof LateEnd>;

/** An entry of the chain: this node was taken for lost, its runs were closed elsewhere, and it knows how they ended. */
export const LateEnds = z.strictObject({
  kind: z.literal('late_ends').describe('Ends of runs that another node had closed.'),
  node: text.describe('The node whose chain this is.'),
  at: z.iso.datetime({ offset: true }).describe('When it happened.'),
  ends: z
    .array(
      z.strictObject({
        run_id: text.describe('The run.'),
        receipt_sha256: sha256.nullable().describe('Of its receipt, which stays as it was sealed elsewhere.'),
        end_sha256: sha256.describe('SHA-256 of the RFC 8785 form of the late end.'),
      }),
    )
    .describe('The ends, by their run and hash.'),
  seal: Seal.describe('The place in the chain.'),
});
export type LateEnds = z.infer<typeof LateEnds>;
