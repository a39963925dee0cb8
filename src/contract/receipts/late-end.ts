import { z } from 'zod';
import { leavesOf, type Source } from './field.ts';
import { RECEIPT_FIELDS, Receipt, Seal } from './receipt.ts';

const text = z.string();
const sha256 = text.regex(/^[0-9a-f]{64}$/, 'must be 64 lower-case hex digits');

type AtEnd = { readonly from: 'close' | 'both' | 'ended' };
type IsAtEnd<R> = [Extract<R extends { readonly parts: infer P } ? P[keyof P] : R, AtEnd>] extends [never] ? false : true;
type EndMember = {
  [K in keyof typeof RECEIPT_FIELDS]: IsAtEnd<(typeof RECEIPT_FIELDS)[K]> extends true ? K : never;
}[keyof typeof RECEIPT_FIELDS];
type LateEndMember = 'run_id' | 'node' | EndMember;

/** The members of a receipt that are known at the end of a run, and whose run it is. */
export const LATE_END_MEMBERS = [
  'run_id',
  'node',
  ...new Set(leavesOf(RECEIPT_FIELDS).flatMap(({ from, path: [name] }) => (isAtEnd(from) ? [name] : []))),
] as readonly LateEndMember[]; // the same rows as the type picks

function isAtEnd(from: Source): boolean {
  return from === 'close' || from === 'both' || from === 'ended';
}

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
