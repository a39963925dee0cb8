import { canonicalJson, sha256 } from '../../base/canonical-json.ts';
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import type { Leaf } from '../../contract/receipts/field.ts';
import { HASH_PROFILES } from '../../contract/version.ts';
import { LEAVES } from '../journal/fact-rows.ts';
import { parsedText } from './canonical-text.ts';

export type HashProfile = (typeof HASH_PROFILES)[number];

/** A field that the content hash covers, and its name there. */
export interface ContentMember {
  readonly leaf: Leaf;
  readonly name: string;
}

/**
 * The content of `receipt_sha256` under a profile: what the run did, as an allowlist. Ids, times, durations, attempts, headers, cost,
 * tags, keys, nodes and our version stay out, so that two runs that did the same thing have the same hash.
 */
export function contentMembers(profile: HashProfile): readonly ContentMember[] {
  const number = HASH_PROFILES.indexOf(profile) + 1;
  return LEAVES.filter(({ hashed }) => hashed !== undefined && hashed <= number).map((leaf) => ({
    leaf,
    name: leaf.hashedAs ?? leaf.path.join('.'),
  }));
}

const MEMBERS = new Map(HASH_PROFILES.map((profile) => [profile, contentMembers(profile)]));

export function isHashProfile(name: unknown): name is HashProfile {
  return HASH_PROFILES.some((profile) => profile === name);
}

/** The hash of a document under its own profile. A member that is missing has no hash: it throws. */
export function contentHash(receipt: JsonObject): string {
  if (!isHashProfile(receipt.hash_profile)) throw new TypeError('the receipt follows no known hash profile');
  const members = MEMBERS.get(receipt.hash_profile) ?? [];
  return sha256(canonicalJson(Object.fromEntries(members.map(({ leaf, name }) => [name, contentOf(receipt, leaf)]))));
}

function contentOf(receipt: JsonObject, { path, hashedWithout }: Leaf): Json {
  const value = valueAt(receipt, path);
  if (value === undefined) throw new TypeError(`the receipt has no ${path.join('.')}`);
  return wellFormed(hashedWithout === undefined ? value : without(value, hashedWithout));
}

/** The value of a field in a document. */
export function valueAt(document: JsonObject, [name, part]: Leaf['path']): Json | undefined {
  const value = document[name];
  if (part === undefined) return value;
  return isJsonObject(value) ? value[part] : undefined;
}

/** Names come from callers and engines as they like, and RFC 8785 has no form for half a surrogate pair. */
function wellFormed(value: Json): Json {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormed);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, wellFormed(member)]));
}

function without(items: Json, member: string): Json {
  if (!Array.isArray(items)) throw new TypeError('a list was expected');
  return items.map((item: Json) => {
    if (!isJsonObject(item)) throw new TypeError('a list of objects was expected');
    const { [member]: _left, ...rest } = item;
    return rest;
  });
}

/** The RFC 8785 text of a list without one member of its items, as bytes; nearly all runs have an empty list. */
export function withoutMember(text: string, member: string): string {
  if (text === '[]') return text;
  const items = parsedText(Buffer.from(text, 'latin1').toString('utf8'));
  return Buffer.from(JSON.stringify(without(items, member)), 'utf8').toString('latin1');
}
