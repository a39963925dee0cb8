import { isJsonObject, type Json, type JsonObject } from '../base/json.ts';
import { HASH_PROFILE } from '../contract/version.ts';
import { contentMembers } from './seal/content-hash.ts';

/** A value that two receipts have in different forms. */
export interface Change {
  readonly path: string;
  /** Undefined where one of them has none. */
  readonly before: Json | undefined;
  readonly after: Json | undefined;
}

/** How two receipts differ: in what the runs did, and in what is of the moment. */
export interface ReceiptDiff {
  /** Whether the runs did the same: their content hashes are equal. */
  readonly same: boolean;
  readonly content: readonly Change[];
  readonly incidental: readonly Change[];
}

/** The fields that the newest profile hashes, by their place in the document. */
const CONTENT = new Map(contentMembers(HASH_PROFILE).map(({ leaf }) => [leaf.path.join('.'), leaf]));

/** Whether a place in a receipt belongs to what the run did. Of the items of a list, the hash may leave a member out. */
function isContent({ path }: Change): boolean {
  const [name = '', part = ''] = path.split(/[.[]/);
  const leaf = CONTENT.get(name) ?? CONTENT.get(`${name}.${part}`);
  return leaf !== undefined && (leaf.hashedWithout === undefined || !path.endsWith(`].${leaf.hashedWithout}`));
}

export function diffReceipts(before: JsonObject, after: JsonObject): ReceiptDiff {
  const changes = changesOf(before, after, '');
  return {
    same: before.receipt_sha256 === after.receipt_sha256 && typeof before.receipt_sha256 === 'string',
    content: changes.filter(isContent),
    incidental: changes.filter((change) => !isContent(change)),
  };
}

function changesOf(before: Json | undefined, after: Json | undefined, path: string): Change[] {
  const [old, now] = [membersOf(before), membersOf(after)];
  if (old === undefined || now === undefined) return before === after ? [] : [{ path, before, after }];
  const isList = Array.isArray(before);
  return [...new Set([...old.keys(), ...now.keys()])].flatMap((name) =>
    changesOf(old.get(name), now.get(name), isList ? `${path}[${name}]` : path === '' ? name : `${path}.${name}`),
  );
}

function membersOf(value: Json | undefined): ReadonlyMap<string, Json> | undefined {
  if (Array.isArray(value)) return new Map(value.map((item: Json, at: number) => [String(at), item]));
  return isJsonObject(value) ? new Map(Object.entries(value)) : undefined;
}
