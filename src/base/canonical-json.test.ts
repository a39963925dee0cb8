import { expect, it } from 'vitest';
import { canonicalJson, canonicalText, hasCanonicalForm } from './canonical-json.ts';

const HALF = 'cut \ud83d';

it.each([
  [{ b: [1, 'é'], a: null }, true, '{"a":null,"b":[1,"é"]}'],
  ['\ud83d\ude00', true, '"😀"'],
  [{ text: [HALF] }, false, '{"text":["cut \ufffd"]}'],
  [{ [HALF]: 1 }, false, '{"cut \ufffd":1}'],
])('%j has a canonical form: %s', (value, has, text) => {
  expect([hasCanonicalForm(value), canonicalText(value)]).toEqual([has, text]);
  if (has) expect(canonicalJson(value)).toBe(text);
  else expect(() => canonicalJson(value)).toThrow('surrogate');
});
