import { z } from 'zod';
import { AuditEntry } from './audit.ts';
import { LateEnds } from './late-end.ts';
import { Seal } from './parts.ts';
import { Receipt } from './receipt.ts';

const text = z.string();
const count = z.int().nonnegative();
const time = z.iso.datetime({ offset: true });
const sha256 = text.regex(/^[0-9a-f]{64}$/, 'must be 64 lower-case hex digits');
const signature = text.regex(/^[0-9a-f]{128}$/, 'must be 128 lower-case hex digits');
const publicKey = text.regex(/^[0-9a-f]{64}$/, 'must be 64 lower-case hex digits');

/** A node's signature over the end of its chain: a reader who holds it can check every entry up to there. */
export const SignedHead = z.strictObject({
  kind: z.literal('head').describe('A signed head.'),
  node: text.describe('The node whose chain this is.'),
  at: time.describe('When it was signed.'),
  from: count.describe('The first entry that no earlier head covers.'),
  sequence: count.describe('The last entry.'),
  count: count.describe('How many entries the chain has up to here.'),
  hash: sha256.describe('Hash of the last entry.'),
  key_id: text.describe('The key that signed.'),
  signature: signature.describe('Ed25519 over the RFC 8785 form of this document without the signature.'),
});
export type SignedHead = z.infer<typeof SignedHead>;

const NamedKey = z.strictObject({
  id: text.describe('key_ and the first 16 hex digits of the SHA-256 of the public key.'),
  public_key: publicKey.describe('The 32 bytes of the Ed25519 key in hex.'),
});

/** An entry of the chain: the node signs with another key from here on. */
export const KeyRotation = z.strictObject({
  kind: z.literal('rotation').describe('A change of key.'),
  node: text.describe('The node whose chain this is.'),
  at: time.describe('When it happened.'),
  old_key: NamedKey.describe('The key that signed until here.'),
  new_key: NamedKey.describe('The key that signs from here on.'),
  seal: Seal.describe('The place in the chain.'),
  signatures: z
    .strictObject({ old: signature.nullable().describe('Null when the old key was lost.'), new: signature.describe('Of the new key.') })
    .describe('Of both keys, over the RFC 8785 form of this document without the signatures.'),
});
export type KeyRotation = z.infer<typeof KeyRotation>;

/** An entry of the chain: the contents of these receipts were removed. */
export const Removal = z.strictObject({
  kind: z.literal('removal').describe('Contents of receipts were removed.'),
  node: text.describe('The node whose chain this is.'),
  at: time.describe('When it happened.'),
  status: z.enum(['archived', 'deleted']).describe('What became of the receipts.'),
  reason: text.describe('Why: retention, or what was asked for.'),
  receipts: z
    .array(
      z.strictObject({
        sequence: count.describe('Its place.'),
        run_id: text.describe('Its run.'),
        receipt_sha256: sha256.nullable().describe('Hash of what the run did.'),
      }),
    )
    .describe('The receipts, by their place, run and content hash.'),
  seal: Seal.describe('The place in the chain.'),
});
export type Removal = z.infer<typeof Removal>;

/** An entry of the chain: parts of the node's journal could not be read. What stood there is in no receipt. */
export const JournalGap = z.strictObject({
  kind: z.literal('gap').describe('The journal was damaged.'),
  node: text.describe('The node whose chain this is.'),
  at: time.describe('When it was found.'),
  segment: text.describe('The file of the journal.'),
  gaps: z
    .array(
      z.strictObject({
        offset: count.describe('Where the damage begins.'),
        bytes: count.describe('How far it goes.'),
        sha256: sha256.describe('Digest of the damaged bytes, which were set aside.'),
      }),
    )
    .describe('The parts that could not be read.'),
  seal: Seal.describe('The place in the chain.'),
});
export type JournalGap = z.infer<typeof JournalGap>;

/** An entry of the chain: entries before it, which this node had signed, were gone from the database when it started. */
export const ChainCut = z.strictObject({
  kind: z.literal('cut').describe('Entries were taken off the end of the chain.'),
  node: text.describe('The node whose chain this is.'),
  at: time.describe('When it was noticed.'),
  from: count.describe('The first entry that is gone.'),
  to: count.describe('The last one: the node had a signed head of it.'),
  seal: Seal.describe('The place in the chain.'),
});
export type ChainCut = z.infer<typeof ChainCut>;

/** A line of an export that stands for a receipt whose content is not in the file. */
export const ChainLink = z.strictObject({
  kind: z.literal('link').describe('A receipt whose content is not in the file.'),
  sequence: count.describe('Its place.'),
  hash: sha256.describe('Its hash.'),
});
export type ChainLink = z.infer<typeof ChainLink>;

/** One line of an export of receipts. */
export const ReceiptLine = z.union([Receipt, SignedHead, KeyRotation, Removal, LateEnds, JournalGap, ChainCut, AuditEntry, ChainLink]);

/** The rest of a receipt whose content was removed. */
export const ReceiptStub = Receipt.pick({
  id: true,
  run_id: true,
  contract_version: true,
  hash_profile: true,
  started_at: true,
  completed_at: true,
  node: true,
  receipt_sha256: true,
}).extend({
  status: z.enum(['archived', 'deleted']).describe('What became of it.'),
  removed_at: time.describe('When its content was removed.'),
  removal: count.describe('The entry of the chain that says so.'),
  seal: Seal.describe('The place in the chain.'),
});
export type ReceiptStub = z.infer<typeof ReceiptStub>;

/** A key that a node signs or signed with. */
export const SealKey = z.strictObject({
  id: text.describe('key_ and the first 16 hex digits of the SHA-256 of the public key.'),
  algorithm: z.literal('Ed25519').describe('What it signs with.'),
  public_key: publicKey.describe('The 32 bytes of the key in hex.'),
  node: text.describe('The node that signs with it.'),
  created_at: time.describe('When it was made.'),
  retired_at: time.nullable().describe('When another key took its place; null for the one in use.'),
});
export type SealKey = z.infer<typeof SealKey>;
