/** A shorter value would be found in every text. */
const SHORTEST_VALUE = 8;

/**
 * A secret as it may stand in a text: plain, as JSON and an address write it, and inside base64, where it begins at any of three places
 * of a group. Longest first: one form may hold another.
 */
export function secretForms(value: string): string[] {
  if (value.length < SHORTEST_VALUE) return [];
  const inQuery = new URLSearchParams({ '': value }).toString().slice(1);
  const encoded = [0, 1, 2].flatMap((offset) => [insideBase64(value, offset, 'base64'), insideBase64(value, offset, 'base64url')]);
  const forms = new Set([value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value.toWellFormed()), inQuery, ...encoded]);
  return [...forms].filter((form) => form.length >= SHORTEST_VALUE).toSorted((a, b) => b.length - a.length);
}

/** The characters of base64 that depend on the value alone when `offset` bytes stand before it. */
function insideBase64(value: string, offset: number, encoding: 'base64' | 'base64url'): string {
  const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(value, 'utf8')]);
  const whole = Math.floor((bytes.length * 8) / 6);
  return bytes.toString(encoding).slice(Math.ceil((offset * 8) / 6), whole);
}
