import { canonicalJson, sha256 } from '../../base/canonical-json.ts';
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import type { Leaf } from '../../contract/receipts/field.ts';
import { HASH_PROFILES } from '../../contract/version.ts';
import { LEAVES } from '../journal/fact-rows.ts';

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

const [QUOTE, COMMA, COLON, BACKSLASH] = [0x22, 0x2c, 0x3a, 0x5c];
const SCALAR_END = /[,}]/g;

/**
 * The RFC 8785 text of a list of flat objects without one member of each. The text is walked from string to string, so that no word of a
 * caller is taken for a member; to parse it and write it again would take four times as long.
 */
export function withoutMember(text: string, member: string): string {
  const name = `"${member}":`;
  let kept = '';
  let from = 0;
  for (let at = text.indexOf('"'); at !== -1; at = text.indexOf('"', at)) {
    const end = stringEnd(text, at);
    if (text.charCodeAt(end) !== COLON || !text.startsWith(name, at)) {
      at = end;
      continue;
    }
    const after = valueEnd(text, end + 1);
    const isLast = text.charCodeAt(after) !== COMMA;
    // With one of the commas around it, if there is any.
    kept += text.slice(from, isLast && text.charCodeAt(at - 1) === COMMA ? at - 1 : at);
    from = isLast ? after : after + 1;
    at = after;
  }
  return kept + text.slice(from);
}

/** Behind the string that begins here. */
function stringEnd(text: string, start: number): number {
  let at = text.indexOf('"', start + 1);
  while (isEscaped(text, at)) at = text.indexOf('"', at + 1);
  return at + 1;
}

function isEscaped(text: string, quote: number): boolean {
  let at = quote;
  while (text.charCodeAt(at - 1) === BACKSLASH) at -= 1;
  return (quote - at) % 2 === 1;
}

function valueEnd(text: string, start: number): number {
  if (text.charCodeAt(start) === QUOTE) return stringEnd(text, start);
  SCALAR_END.lastIndex = start;
  return SCALAR_END.exec(text)?.index ?? text.length;
}
