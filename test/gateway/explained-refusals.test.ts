import { afterAll, beforeAll, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { call, post } from '../support/http-call.ts';

let server: TestGateway;
let held: string;
beforeAll(async () => {
  server = await startGateway({
    config: { policy: { deny_engines: ['gem*'], deny_models: ['*-large'], disallowed_tools: ['shell'] } },
    engines: { gemini: { url: 'http://127.0.0.1:9', key: 'k' } },
  });
  const headers = ['authorization', `Bearer ${server.token}`, 'content-type', 'application/json'];
  const scopes = { planes: ['gateway'], models: ['small*'], engines: ['sim'] };
  const answer = await call(`${server.url}/v1/keys`, { method: 'POST', headers, body: JSON.stringify({ name: 'held', scopes }) });
  held = JSON.parse(String(answer.body)).secret;
  expect(answer.status).toBe(201);
});
afterAll(() => server.close());

const MESSAGES = [{ role: 'user', content: 'hi' }];
/** More than one thread reads beside other calls. */
const MANY = Array.from({ length: 20_000 }, (_, at) => ({ role: at % 2 === 0 ? 'user' : 'assistant', content: `${at}` }));
const SHELL = [{ type: 'function', function: { name: 'shell', parameters: { type: 'object' } } }];
const CHOSEN = { tool_choice: { type: 'function', function: { name: 'shell' } } };

it.each<[string, { to: string; request: object; key?: boolean }, string, string]>([
  ['an engine that is denied', { to: 'gemini', request: { model: 'm', messages: MESSAGES } }, 'E005', 'denied here by deny_engines: gem*'],
  [
    'a model that is denied',
    { to: 'sim', request: { model: 'My-Large', messages: MESSAGES } },
    'E005',
    'denied here by deny_models: *-large',
  ],
  [
    'a denied model of a translation',
    { to: 'sim:claude', request: { model: 'x-large', messages: MESSAGES } },
    'E005',
    'deny_models: *-large',
  ],
  [
    'a denied fallback',
    { to: 'sim', request: { model: 'm', models: ['x-large'], messages: MESSAGES } },
    'E005',
    'The model x-large is denied',
  ],
  ['a denied model of a long request', { to: 'sim', request: { model: 'x-large', messages: MANY } }, 'E005', 'deny_models: *-large'],
  ['a denied tool', { to: 'sim', request: { model: 'm', messages: MESSAGES, tools: SHELL } }, 'E005', 'disallowed_tools: shell'],
  [
    'a denied tool that the model must call',
    { to: 'sim:claude', request: { model: 'm', messages: MESSAGES, tools: SHELL, ...CHOSEN } },
    'E005',
    'disallowed_tools: shell',
  ],
  [
    'a field without a form, before what is denied',
    { to: 'sim:claude', request: { model: 'x-large', messages: MESSAGES, logprobs: true } },
    'E001',
    'Logprobs is not supported',
  ],
  [
    'an engine that the key may not call',
    { to: 'gemini', request: { model: 'small', messages: MESSAGES }, key: true },
    'forbidden',
    'engine gemini',
  ],
  [
    'a model that the key may not call',
    { to: 'sim', request: { model: 'm', messages: MESSAGES }, key: true },
    'forbidden',
    'lacks model m',
  ],
])('explain and the call refuse alike: %s', async (_name, { to, request, key }, code, message) => {
  const credential = key === true ? ['x-abp-key', held] : [];
  const explained = JSON.parse(String((await post(`${server.url}/v1/explain`, { from: 'openai-chat', to, request }, credential)).body));
  expect([explained.error?.code, explained.upstream]).toEqual([code, null]);
  expect(explained.error.message).toContain(message);
  const made = JSON.parse(String((await post(`${server.url}/e/${to}/v1/chat/completions`, request, credential)).body));
  expect(made.error.message).toBe(explained.error.message);
});

it('explains a request that loses a denied tool on its way, and one that is allowed', async () => {
  const explain = async (to: string, request: object) =>
    JSON.parse(String((await post(`${server.url}/v1/explain`, { from: 'openai-chat', to, request })).body));
  const losing = await explain('sim:claude', { model: 'm', messages: MESSAGES, tools: SHELL });
  expect([losing.error, losing.upstream.body.tools]).toEqual([undefined, undefined]);
  expect(losing.fidelity).toContainEqual(expect.objectContaining({ code: 'tool_denied' }));
  expect((await explain('sim', { model: 'm', messages: MESSAGES })).error).toBeUndefined();
});
