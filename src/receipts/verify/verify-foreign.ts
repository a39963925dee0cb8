import { sha256 } from '../../base/canonical-json.ts';
import { isJsonObject, parseJson } from '../../base/json.ts';
import { type JsonTree, jsonTree, repeatedMember } from '../../base/json-tree.ts';

/** The verdict on a foreign receipt. */
export interface ForeignVerification {
  readonly ok: boolean;
  readonly verdict: string;
  readonly runId: string | null;
}

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
  const text = canonical(receipt);
  const hash = receipt.members.find(([name]) => name === 'receipt_sha256')?.[1];
  return { sha256: sha256(text), verified: hash?.kind === 'string' ? verifyForeign(text).ok : null };
}

function wrong(runId: string | null, verdict: string): ForeignVerification {
  return { ok: false, verdict, runId };
}

function withoutHash(tree: Extract<JsonTree, { kind: 'object' }>): JsonTree {
  const nothing: JsonTree = { kind: 'scalar', text: 'null' };
  return { kind: 'object', members: tree.members.map(([name, value]) => [name, name === 'receipt_sha256' ? nothing : value]) };
}

function canonical(tree: JsonTree): string {
  switch (tree.kind) {
    case 'scalar':
      return tree.text;
    case 'string':
      return JSON.stringify(tree.value);
    case 'array':
      return `[${tree.items.map(canonical).join(',')}]`;
    case 'object': {
      const sorted = tree.members.toSorted(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
      return `{${sorted.map(([name, value]) => `${JSON.stringify(name)}:${canonical(value)}`).join(',')}}`;
    }
  }
}
