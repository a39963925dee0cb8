import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { Json } from './json.ts';

/** RFC 8785 form of a JSON value. */
export function canonicalJson(value: Json): string {
  const text = canonicalize(value);
  if (text === undefined) throw new TypeError('value has no JSON form');
  return text;
}

/** Lower-case hex SHA-256. */
export function sha256(data: string | Uint8Array): string {
  return hash('sha256', data, 'hex');
}
