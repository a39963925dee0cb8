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

const thinking = {
  model: 'claude-sonnet-4-5',
  max_tokens: 100,
  system: 'be brief',
  messages: [{ role: 'user', content: 'hi' }],
  stop_sequences: ['END'],
};

it('says where each field went, and what the call would cost at most', () => {
  const { fidelity, estimate } = explain({ from: 'claude', to: 'openai:openai-chat', model: 'gpt-4o', request: thinking });
  const to = Object.fromEntries(fidelity.map((entry) => [entry.path, entry.to]));
  expect(to).toMatchObject({
    max_tokens: ['/max_completion_tokens'],
    system: ['/messages/0/content'],
    'messages[*].content': ['/messages/1/content'],
    'stop_sequences[*]': ['/stop/0'],
  });
  expect(estimate).toMatchObject({ input_tokens: 3, max_output_tokens: 100 });
  expect(estimate?.max_cost_nano_usd).toBeGreaterThan(0);
});

it('finds the place of values that have bounds, of words of fixed lists, of the model, and of a schema’s own words', () => {
  const request = {
    ...{ model: 'gemini-2.5-pro', max_tokens: 100, temperature: 0.2, tool_choice: { type: 'auto' } },
    messages: [{ role: 'user', content: 'hi' }],
    tools: [{ name: 'look', input_schema: { type: 'object', properties: { at: { type: 'string' } } } }],
  };
  const { fidelity } = explain({ from: 'claude', to: 'gemini', request });
  expect(Object.fromEntries(fidelity.map(({ path, to }) => [path, to?.[0]]))).toMatchObject({
    model: 'path',
    temperature: '/generationConfig/temperature',
    'tool_choice.type': '/toolConfig/functionCallingConfig/mode',
    'tools[*].input_schema.type': '/tools/0/functionDeclarations/0/parametersJsonSchema/type',
  });
});

it('takes the vendor’s path instead of the dialect, and goes where the path would send it', () => {
  const path = '/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse';
  expect(explain({ path, request: gemini })).toMatchObject({ to: 'gemini', mode: 'passthrough' });
  expect(explain({ path, to: 'claude', model: 'claude-sonnet-4-5', request: gemini }).upstream?.body).toMatchObject({ stream: true });
  expect(() => explain({ path: '/v1/files', request: gemini })).toThrow('no vendor path');
});

it('refuses what the vendor path refuses in its own dialect, too', () => {
  const requirements = { required: [{ capability: 'extended_thinking', min_support: 'native' } as const] };
  const { error, upstream } = explain({ from: 'openai-chat', to: 'openai', request: chat, requirements });
  expect(error).toMatchObject({ code: 'E006' });
  expect(upstream).toBeNull();
});

it('names only the model where a call stays in its dialect under another name', () => {
  const { mode, upstream, fidelity } = explain({ from: 'openai-chat', to: 'openai', model: 'gpt-4o', request: chat });
  expect([mode, upstream?.body]).toEqual(['mapped', { ...chat, model: 'gpt-4o' }]);
  expect(fidelity.filter(({ fate }) => fate !== 'exact')).toMatchObject([{ path: 'model', fate: 'renamed', to: ['/model'] }]);
});
