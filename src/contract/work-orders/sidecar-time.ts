import { z } from 'zod';

/**
 * A timestamp as the contract's first implementation rewrites it: UTC, `Z`, and the shortest of 0, 3, 6 or 9 fractional digits that
 * loses nothing. Foreign receipt hashes are taken over this form, and Date alone keeps only milliseconds.
 */
export function normalTime(text: string): string {
  const [, head = text, digits = '', zone = 'Z'] = /^(.*?)(?:\.(\d+))?(Z|[+-]\d\d:?\d\d)$/.exec(text) ?? [];
  const seconds = new Date(`${head}${zone}`).toISOString().slice(0, 19);
  const nanos = digits.padEnd(9, '0').slice(0, 9);
  const fraction = nanos.replace(/(?:000)+$/, '');
  return fraction === '' ? `${seconds}Z` : `${seconds}.${fraction}Z`;
}

/** RFC 3339 with any offset on input, the normal form on output. */
export const SidecarTime = z.iso.datetime({ offset: true }).transform(normalTime);
