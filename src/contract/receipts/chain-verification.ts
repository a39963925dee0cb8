import { z } from 'zod';

const text = z.string();
const count = z.int().nonnegative();

/** Faults of a chain or of a line of it. */
const ChainProblemCode = z.enum([
  'not_json',
  'not_canonical',
  'repeated_member',
  'unknown_line',
  'changed',
  'content_changed',
  'missing',
  'repeated',
  'reordered',
  'broken_link',
  'head_mismatch',
  'missing_head',
  'bad_signature',
  'wrong_key',
  'other_node',
  'cut',
  'column_changed',
  'unrecorded_removal',
  'unsealed',
]);

/** One thing that is wrong, and where. */
export const ChainProblem = z.strictObject({
  code: ChainProblemCode.describe('What kind of thing.'),
  line: count.describe('Line of the export, counted from 1; 0 for what no line can show.'),
  sequence: count.optional().describe('The entry in question.'),
  run_id: text.optional().describe('Its run, when it is a receipt.'),
  message: text.describe('What is wrong, in words.'),
});
export type ChainProblem = z.infer<typeof ChainProblem>;

/** The findings of a verifier about a chain or a part of it. */
export const ChainVerification = z.strictObject({
  ok: z.boolean().describe('Nothing is wrong with what is there.'),
  verdict: text.describe('In one line: what is known, and what cannot be.'),
  node: text.nullable().describe('The node whose chain it is.'),
  receipts: count.describe('Receipts whose content was checked.'),
  removed: count.describe('Receipts whose content was removed, as the chain itself records.'),
  withheld: count.describe('Receipts of which only the hash is there, without a record of a removal.'),
  first: count.nullable().describe('The first entry.'),
  last: count.nullable().describe('The last entry.'),
  tail: z.enum(['known', 'unknown']).describe('Whether an outside head says where the chain ends.'),
  keys: z.array(text).describe('Keys whose signatures were good.'),
  notes: z.array(text).describe('What is not wrong but worth knowing.'),
  problems: z.array(ChainProblem).describe('The first hundred.'),
  problem_count: count.describe('How many there are.'),
});
export type ChainVerification = z.infer<typeof ChainVerification>;
