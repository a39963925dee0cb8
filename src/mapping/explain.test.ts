import { expect, it } from 'vitest';
import { explain } from './explain.ts';

const chat = { model: 'm', messages: [{ role: 'user', content: 'hi' }] };
const gemini = { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] };

it.each([
  ['claude', 'claude', { ...chat, max_tokens: 9 }, '/v1/messages'],
  ['openai-chat', 'openai', chat, '/v1/chat/completions'],
  ['kimi', 'kimi', chat, '/v1/chat/completions'],
  ['copilot', 'copilot', chat, '/chat/completions'],
])('a passed-through %s request to %s has the path that the vendor knows', (from, to, request, path) => {
  expect(explain({ from, to, request })).toMatchObject({ mode: 'passthrough', upstream: { path, body: request } });
});

it('a Gemini request has its model in the path, and without one there is nothing to explain', () => {
  expect(explain({ from: 'gemini', to: 'gemini', model: 'gemini-2.5-pro', request: gemini })).toMatchObject({
    mode: 'passthrough',
    upstream: { path: '/v1beta/models/gemini-2.5-pro:generateContent', body: gemini },
  });
  expect(() => explain({ from: 'gemini', to: 'claude', request: gemini })).toThrow('No model is named');
});
