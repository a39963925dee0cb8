import { canonicalJson } from '../../base/canonical-json.ts';
import { isJsonObject, type JsonObject, parseJson } from '../../base/json.ts';
import { jsonTree, repeatedMember } from '../../base/json-tree.ts';
import { AuditEntry } from '../../contract/receipts/audit.ts';
import { ChainCut, ChainLink, JournalGap, KeyRotation, Removal, SignedHead } from '../../contract/receipts/chain.ts';
import type { ChainProblem } from '../../contract/receipts/chain-verification.ts';
import { LateEnds } from '../../contract/receipts/late-end.ts';
import { Seal } from '../../contract/receipts/parts.ts';
import { contentHash, isHashProfile } from '../seal/content-hash.ts';
import { entryHash } from '../seal/entry.ts';

/** A line of an export, read and checked as far as it can be alone. */
export type Line =
  | { readonly kind: 'head'; readonly head: SignedHead; readonly message: string }
  | { readonly kind: 'link'; readonly seal: Pick<Seal, 'sequence' | 'hash'> }
  | ({ readonly kind: 'receipt'; readonly runId: string } & Omit<Entry, 'node'>)
  | ({ readonly kind: 'rotation'; readonly rotation: KeyRotation; readonly message: string } & Entry)
  | ({ readonly kind: 'removal'; readonly removal: Removal } & Entry)
  | ({ readonly kind: 'late_ends' } & Entry)
  | ({ readonly kind: 'audit' } & Entry)
  | ({ readonly kind: 'gap'; readonly gap: JournalGap } & Entry)
  | ({ readonly kind: 'cut'; readonly cut: ChainCut } & Entry);

interface Entry {
  readonly seal: Seal;
  readonly node: string;
  /** Why its content is not what was sealed. */
  readonly fault?: LineProblem;
}

/** The faults of a line by itself. */
export interface LineProblem {
  readonly code: ChainProblem['code'];
  readonly message: string;
}

/** Reads one line; a problem when it is none that an export holds. */
export function readLine(text: string): Line | LineProblem {
  const parsed = parseJson(text);
  if (!parsed.ok) return { code: 'not_json', message: `is not JSON: ${parsed.message}` };
  if (!isJsonObject(parsed.value)) return { code: 'unknown_line', message: 'is not an object' };
  const canonical = canonicalOrNothing(parsed.value);
  if (canonical !== text) return notCanonical(text);
  return typeof parsed.value.kind === 'string' ? otherLine(parsed.value) : receiptLine(parsed.value);
}

function canonicalOrNothing(value: JsonObject): string | undefined {
  try {
    return canonicalJson(value);
  } catch {
    // Half a surrogate pair, or nesting that exhausts the stack: neither has an RFC 8785 form that we would write.
    return undefined;
  }
}

function notCanonical(text: string): LineProblem {
  const tree = jsonTree(text);
  const repeated = tree === undefined ? undefined : repeatedMember(tree);
  if (repeated !== undefined) return { code: 'repeated_member', message: `has the member ${repeated} twice` };
  return { code: 'not_canonical', message: 'is not in its RFC 8785 form: other order, spacing, escapes or digits' };
}

function receiptLine(value: JsonObject): Line | LineProblem {
  const seal = Seal.safeParse(value.seal);
  if (!seal.success || typeof value.run_id !== 'string' || typeof value.node !== 'string') {
    return { code: 'unknown_line', message: 'is neither a sealed receipt nor a line of the chain' };
  }
  const fault = faultOf(value, seal.data) ?? contentFault(value);
  return { kind: 'receipt', runId: value.run_id, seal: seal.data, ...(fault === undefined ? {} : { fault }) };
}

function faultOf(value: JsonObject, seal: Seal): LineProblem | undefined {
  if (entryHash({ ...value, seal }) === seal.hash) return undefined;
  return { code: 'changed', message: 'was changed: its content does not have the hash it was sealed with' };
}

/** `receipt_sha256` is sealed with the rest; a node that seals a wrong one is found out here. */
function contentFault(value: JsonObject): LineProblem | undefined {
  if (!isHashProfile(value.hash_profile)) return undefined;
  if (contentHashOf(value) === value.receipt_sha256) return undefined;
  return { code: 'content_changed', message: 'has a receipt_sha256 that is not the hash of what it says the run did' };
}

function contentHashOf(value: JsonObject): string | undefined {
  try {
    return contentHash(value);
  } catch {
    // Members that the hash is made of are missing or of another type.
    return undefined;
  }
}

function otherLine(value: JsonObject): Line | LineProblem {
  switch (value.kind) {
    case 'head':
      return headLine(value);
    case 'link':
      return linkLine(value);
    case 'rotation':
      return rotationLine(value);
    case 'removal':
      return removalLine(value);
    case 'late_ends':
      return lateEndsLine(value);
    case 'audit':
      return auditLine(value);
    case 'gap':
      return gapLine(value);
    case 'cut':
      return cutLine(value);
    default:
      return unknownLine(value);
  }
}

function unknownLine({ kind }: JsonObject): LineProblem {
  return { code: 'unknown_line', message: `is of the kind ${JSON.stringify(kind)}, in a form that is not known` };
}

function headLine(value: JsonObject): Line | LineProblem {
  const head = SignedHead.safeParse(value);
  if (!head.success) return unknownLine(value);
  const { signature: _signature, ...message } = head.data;
  return { kind: 'head', head: head.data, message: canonicalJson(message) };
}

function linkLine(value: JsonObject): Line | LineProblem {
  const link = ChainLink.safeParse(value);
  return link.success ? { kind: 'link', seal: link.data } : unknownLine(value);
}

function rotationLine(value: JsonObject): Line | LineProblem {
  const rotation = KeyRotation.safeParse(value);
  if (!rotation.success) return unknownLine(value);
  const { signatures: _signatures, ...message } = rotation.data;
  return { kind: 'rotation', rotation: rotation.data, message: canonicalJson(message), ...entryOf(value, rotation.data) };
}

function removalLine(value: JsonObject): Line | LineProblem {
  const removal = Removal.safeParse(value);
  return removal.success ? { kind: 'removal', removal: removal.data, ...entryOf(value, removal.data) } : unknownLine(value);
}

function lateEndsLine(value: JsonObject): Line | LineProblem {
  const late = LateEnds.safeParse(value);
  return late.success ? { kind: 'late_ends', ...entryOf(value, late.data) } : unknownLine(value);
}

function auditLine(value: JsonObject): Line | LineProblem {
  const audit = AuditEntry.safeParse(value);
  return audit.success ? { kind: 'audit', ...entryOf(value, audit.data) } : unknownLine(value);
}

function gapLine(value: JsonObject): Line | LineProblem {
  const gap = JournalGap.safeParse(value);
  return gap.success ? { kind: 'gap', gap: gap.data, ...entryOf(value, gap.data) } : unknownLine(value);
}

function cutLine(value: JsonObject): Line | LineProblem {
  const cut = ChainCut.safeParse(value);
  return cut.success ? { kind: 'cut', cut: cut.data, ...entryOf(value, cut.data) } : unknownLine(value);
}

function entryOf(value: JsonObject, { seal, node }: { seal: Seal; node: string }): Entry {
  const fault = faultOf(value, seal);
  return { seal, node, ...(fault === undefined ? {} : { fault }) };
}
