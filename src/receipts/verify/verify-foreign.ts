import { sha256 } from '../../base/canonical-json.ts';
import { isJsonObject, parseJson } from '../../base/json.ts';
import { type JsonTree, jsonTree, repeatedMember } from '../../base/json-tree.ts';

/** The verdict on a foreign receipt. */
export interface ForeignVerification {
  readonly ok: boolean;
  readonly verdict: string;
  readonly runId: string | null;
}

const HASH = 'receipt_sha256';

/** A document with `meta` is a receipt of another implementation of the contract; ours have a `seal`. */
export function isForeign(text: string): boolean {
  const parsed = parseJson(text);
  return parsed.ok && isJsonObject(parsed.value) && isJsonObject(parsed.value.meta);
}

/**
 * Checks a foreign receipt by its own rule: SHA-256 over the whole document with `receipt_sha256` set to null, compact, members sorted
 * by code point. Numbers keep the digits they were written with, because other implementations write `1.0` where JavaScript writes `1`.
 */
export function verifyForeign(text: string): ForeignVerification {
  const parsed = parseJson(text);
  const tree = parsed.ok ? jsonTree(text) : undefined;
  if (!parsed.ok || !isJsonObject(parsed.value) || tree?.kind !== 'object') return wrong(null, 'is not a JSON object');
  const { meta, receipt_sha256: claimed } = parsed.value;
  const runId = isJsonObject(meta) && typeof meta.run_id === 'string' ? meta.run_id : null;
  const repeated = repeatedMember(tree);
  if (repeated !== undefined) return wrong(runId, `has the member ${repeated} twice`);
  if (typeof claimed !== 'string') return wrong(runId, 'has no receipt_sha256');
  const computed = sha256(canonical(withoutHash(tree)));
  if (computed !== claimed) return wrong(runId, `was changed: its hash is ${computed}, not ${claimed}`);
  return { ok: true, verdict: 'its hash is right; a foreign receipt is neither chained nor signed', runId };
}

/** The receipt inside of a sidecar's last line, by its own digest, and whether the hash that it carries is right; null where it has none. */
export function receiptInLine(line: string): { readonly sha256: string; readonly verified: boolean | null } | undefined {
  const tree = jsonTree(line);
  const receipt = tree?.kind === 'object' ? tree.members.find(([name]) => name === 'receipt')?.[1] : undefined;
  if (receipt?.kind !== 'object') return undefined;
  const hash = receipt.members.find(([name]) => name === HASH)?.[1];
  // Each member is written once for both digests: a receipt holds everything that was said in its run.
  const members = receipt.members.toSorted(byName).map(([name, value]) => [name, canonical(value)] as const);
  const isRight = (claimed: string): boolean =>
    repeatedMember(receipt) === undefined &&
    sha256(written(members.map(([name, text]) => [name, name === HASH ? 'null' : text]))) === claimed;
  return { sha256: sha256(written(members)), verified: hash?.kind === 'string' ? isRight(hash.value) : null };
}

function wrong(runId: string | null, verdict: string): ForeignVerification {
  return { ok: false, verdict, runId };
}

function withoutHash(tree: Extract<JsonTree, { kind: 'object' }>): JsonTree {
  const nothing: JsonTree = { kind: 'scalar', text: 'null' };
  return { kind: 'object', members: tree.members.map(([name, value]) => [name, name === HASH ? nothing : value]) };
}

function canonical(tree: JsonTree): string {
  switch (tree.kind) {
    case 'scalar':
      return tree.text;
    case 'string':
      return JSON.stringify(tree.value);
    case 'array':
      return `[${tree.items.map(canonical).join(',')}]`;
    case 'object':
      return written(tree.members.toSorted(byName).map(([name, value]) => [name, canonical(value)]));
  }
}

function written(members: readonly (readonly [name: string, text: string])[]): string {
  return `{${members.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`;
}

const BEYOND_16_BITS = /[\ud800-\udfff]/;

/** By code point. Where a name has characters of two units, their order is not that of the units. */
function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  if (BEYOND_16_BITS.test(a) || BEYOND_16_BITS.test(b)) return Buffer.compare(Buffer.from(a), Buffer.from(b));
  return a < b ? -1 : a > b ? 1 : 0;
}
