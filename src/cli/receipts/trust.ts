import { readFileSync } from 'node:fs';
import { isJsonObject, parseJson, parseJsonObject } from '../../base/json.ts';
import { lookAt } from '../../base/paths/look-at.ts';
import { SignedHead } from '../../contract/receipts/chain.ts';
import { readPublicKey } from '../../receipts/seal/seal-keys.ts';
import type { OutsideHead } from '../../receipts/verify/verify-chain.ts';
import { CliError } from '../failure.ts';

/** The text of a file if the value names one, else the value itself. */
function contentOf(value: string): string {
  return lookAt(value).stats?.isFile() === true ? readFileSync(value, 'utf8') : value;
}

/** Public keys from values that are a key in hex, a file with one, a PEM file, or the answer of `/v1/receipts/keys`. */
export function readKeys(values: readonly string[]): string[] {
  return values.flatMap((value) => {
    const text = contentOf(value);
    const key = readPublicKey(text);
    const keys = key === undefined ? listedKeys(text) : [key];
    if (keys.length > 0) return keys;
    throw new CliError('usage', `'${value}' is not an Ed25519 public key`, {
      hint: 'Give 64 hex digits, a PEM file, or a file with the output of abp receipts keys list --json.',
    });
  });
}

function listedKeys(text: string): string[] {
  const items = parseJsonObject(text)?.items;
  if (!Array.isArray(items)) return [];
  return items.flatMap((item) => {
    const key = isJsonObject(item) && typeof item.public_key === 'string' ? readPublicKey(item.public_key) : undefined;
    return key === undefined ? [] : [key];
  });
}

/** A head from a value that is a signed head, a file with one, or `sequence:hash`. */
export function readHead(value: string): OutsideHead {
  const text = contentOf(value).trim();
  const [, sequence, hash] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (sequence !== undefined && hash !== undefined) return { sequence: Number(sequence), hash };
  const parsed = parseJson(text);
  const head = SignedHead.safeParse(parsed.ok ? parsed.value : undefined);
  if (head.success) return { sequence: head.data.sequence, hash: head.data.hash, node: head.data.node, signed: head.data };
  throw new CliError('usage', `'${value}' is not a head of a chain`, {
    hint: 'Give a file with a signed head, its JSON, or sequence:hash.',
  });
}
