import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { Json } from './json.ts';

/** RFC 8785 form of a JSON value. */
export function canonicalJson(value: Json): string {
  const text = canonicalize(value);
  if (text === undefined) throw new TypeError('value has no JSON form');
  return text;
}

/** Whether a value has such a form: halves of surrogate pairs, which programs leave that cut a text inside a character, have none. */
export function hasCanonicalForm(value: Json): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every(hasCanonicalForm);
  return Object.entries(value).every(([name, member]) => name.isWellFormed() && hasCanonicalForm(member));
}

/** The same form of what others say: a half of a surrogate pair stands as U+FFFD in it, as where it is written in UTF-8. */
export function canonicalText(value: Json): string {
  return canonicalJson(hasCanonicalForm(value) ? value : wellFormed(value));
}

function wellFormed(value: Json): Json {
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(wellFormed);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name.toWellFormed(), wellFormed(member)]));
}

/** Lower-case hex SHA-256. */
export function sha256(data: string | Uint8Array): string {
  return hash('sha256', data, 'hex');
}

/** Where bytes of texts are put to be hashed. */
let scratch = Buffer.allocUnsafe(16 * 1024);

/** The same of a text whose characters stand for a byte each, without a buffer of its own. */
export function sha256OfBytes(text: string): string {
  if (text.length > scratch.length) scratch = Buffer.allocUnsafe(text.length * 2);
  return sha256(scratch.subarray(0, scratch.write(text, 0, 'latin1')));
}
