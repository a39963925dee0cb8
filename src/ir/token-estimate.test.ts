import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { IrRequest } from './request.ts';
import { countRequest, countTokens, cutToTokens } from './token-estimate.ts';

test('four characters are a token and a started one counts', () => {
  expect([countTokens(''), countTokens('a'), countTokens('abcd'), countTokens('abcde')]).toEqual([0, 1, 1, 2]);
});

test('a cut never splits a surrogate pair', () => {
  expect(cutToTokens('abc😀', 1)).toBe('abc');
  expect(cutToTokens('abc😀', 2)).toBe('abc😀');
  expect(cutToTokens('abc', -1)).toBe('');
});

test('a cut text has at most the tokens asked for and is a start of the text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 0, max: 20 }), (text, tokens) => {
      const cut = cutToTokens(text, tokens);
      expect(countTokens(cut)).toBeLessThanOrEqual(tokens);
      expect(text.startsWith(cut)).toBe(true);
    }),
  );
});

test('a request is counted with its system prompt, content, tool results, media and tools', () => {
  const request: IrRequest = {
    model: 'sim',
    stream: false,
    stop: [],
    sampling: {},
    vendor: {},
    tools: [{ kind: 'function', name: 'look', description: 'Looks up', schema: { type: 'object' } }],
    messages: [
      { role: 'system', parts: [{ kind: 'text', text: '12345678' }] },
      { role: 'user', parts: [{ kind: 'image', source: { kind: 'url', url: 'https://example.com/a.png' } }] },
      { role: 'assistant', parts: [{ kind: 'tool-call', id: 'c1', name: 'look', arguments: '{}' }] },
      { role: 'user', parts: [{ kind: 'tool-result', callId: 'c1', isError: false, parts: [{ kind: 'text', text: '1234' }] }] },
    ],
  };
  expect(countRequest(request)).toBe(2 + 256 + 2 + 1 + 8);
});
