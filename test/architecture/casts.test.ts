import { expect, it } from 'vitest';
import { blank } from './blanking.ts';
import { isTest, typescriptFiles } from './source-files.ts';

const MOST_PER_THOUSAND = 2;
/** Names that an import or export gives, and keys that a mapped type makes, are no casts. */
const NO_CAST = /\b(?:import|export)\b(?:\s+type)?\s*\{[^}]*\}|\*\s+as\s+\w+|\[\s*\w+\s+in\b[^\]:]*\bas\b/g;
/** `as unknown as T` is one. */
const CAST = /\bas\s+(?:unknown\s+as\s+)?(?!const\b|unknown\s+as\b)[\w({["']/g;

function castsIn(text: string): number {
  return [...blank(text).codeOnly.replaceAll(NO_CAST, '').matchAll(CAST)].length;
}

it('a thousand lines of src hold fewer than two casts', () => {
  const sources = typescriptFiles('src').filter(({ path }) => !isTest(path));
  const casts = sources.reduce((sum, { text }) => sum + castsIn(text), 0);
  const lines = sources.reduce((sum, { text }) => sum + text.split('\n').length, 0);
  expect(lines).toBeGreaterThan(0);
  expect((casts / lines) * 1000).toBeLessThan(MOST_PER_THOUSAND);
});

it.each([
  ['const a = b as C; const d = e as unknown as F[];', 2],
  ["const a = { b: c as 'd' };", 1],
  ['const a = [1] as const; // as it is\nconst b = "as c";', 0],
  ["import { a as b, type C as D } from 'e'; import * as f from 'f'; export { a as b };", 0],
  ['type A = { readonly [K in keyof B as Camel<K>]: B[K] };', 0],
])('counts the casts of %j', (text, casts) => {
  expect(castsIn(text)).toBe(casts);
});
