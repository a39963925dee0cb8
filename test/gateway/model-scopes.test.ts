import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { call, post, rawCall } from '../support/http-call.ts';

/** Every request that reached an engine. */
const arrived: string[] = [];
let upstream: Server;
let server: TestGateway;
let held: string;

beforeAll(async () => {
  upstream = createServer((request, response) => {
    arrived.push(`${request.method} ${request.url}`);
    request.resume();
    request.on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{"data":[]}'));
  });
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`; // a TCP server that listens has one
  const engine = { url, key: 'k' };
  server = await startGateway({
    engines: { claude: engine, openai: engine, gemini: engine },
    config: { routes: [{ match: 'alias', to: 'openai/small-1' }] },
  });
  held = await keyWith({ planes: ['gateway', 'run'], raw: true, models: ['small-*', 'alias'] });
});
afterAll(async () => {
  await server.close();
  upstream.closeAllConnections();
  upstream.close();
});
beforeEach(() => {
  arrived.length = 0;
});

async function keyWith(scopes: object): Promise<string> {
  const headers = ['authorization', `Bearer ${server.token}`, 'content-type', 'application/json'];
  const answer = await call(`${server.url}/v1/keys`, { method: 'POST', headers, body: JSON.stringify({ name: 'held', scopes }) });
  return JSON.parse(String(answer.body)).secret;
}

const MESSAGES = [{ role: 'user', content: 'hi' }];
const sent = (path: string, body: object): ReturnType<typeof post> => post(`${server.url}${path}`, body, ['x-abp-key', held]);

describe('a key that is held to some models', () => {
  it.each<[string, string, object]>([
    ['another model', '/e/openai/v1/chat/completions', { model: 'large', messages: MESSAGES }],
    ['no model', '/e/openai/v1/chat/completions', { messages: MESSAGES }],
    ['a model that is no text', '/e/openai/v1/chat/completions', { model: ['small-1'], messages: MESSAGES }],
    ['a model that is null', '/e/claude/v1/messages', { model: null, max_tokens: 5, messages: MESSAGES }],
    ['a list of fallbacks', '/e/openai/v1/chat/completions', { model: 'small-1', models: ['small-2', 'large'], messages: MESSAGES }],
    ['fallbacks as objects', '/e/openai/v1/chat/completions', { model: 'small-1', fallbacks: [{ model: 'large' }], messages: MESSAGES }],
    ['a stored prompt alone', '/e/openai/v1/responses', { prompt: { id: 'pmpt_1' }, input: 'hi' }],
    ['a stored prompt beside a model', '/e/openai/v1/responses', { model: 'small-1', prompt: { id: 'pmpt_1' }, input: 'hi' }],
    [
      'a tool with a model',
      '/e/openai/v1/responses',
      { model: 'small-1', input: 'hi', tools: [{ type: 'image_generation', model: 'large' }] },
    ],
    [
      'a model in a plugin',
      '/e/openai/v1/chat/completions',
      { model: 'small-1', plugins: [{ id: 'fusion', options: { analysis_models: ['large'] } }], messages: MESSAGES },
    ],
    [
      'a model deep in a tool',
      '/e/claude/v1/messages',
      { model: 'small-1', max_tokens: 5, tools: [{ type: 'advisor', name: 'a', options: { model: 'large' } }], messages: MESSAGES },
    ],
    [
      'a request inside of a request',
      '/e/gemini/v1beta/models/small-1:countTokens',
      { generateContentRequest: { model: 'models/large', contents: [{ parts: [{ text: 'hi' }] }] } },
    ],
    ['another model in a path', '/e/gemini/v1beta/models/large:generateContent', { contents: [{ parts: [{ text: 'hi' }] }] }],
    ['another model beside a path', '/e/gemini/v1beta/models/small-1:generateContent', { model: 'models/large', contents: [] }],
    ['another model, translated', '/e/openai/v1/messages', { model: 'large', max_tokens: 5, messages: MESSAGES }],
    ['no model, translated', '/e/openai/v1/messages', { max_tokens: 5, messages: MESSAGES }],
    ['a batch', '/e/claude/v1/messages/batches', { requests: [] }],
    ['a batch in a path', '/e/gemini/v1beta/models/small-1:batchGenerateContent', {}],
    ['a file', '/e/openai/v1/files', {}],
    ['a path of tomorrow', '/e/openai/v1/anything', { model: 'small-1' }],
  ])('reaches no engine with %s', async (_, path, body) => {
    const answer = await sent(path, body);
    expect([answer.status, arrived]).toEqual([403, []]);
    expect(JSON.parse(String(answer.body)).error).toMatchObject({
      code: 'forbidden',
      details: { scope: expect.stringMatching(/^model /) },
    });
  });

  it('reaches no engine over a WebSocket, whatever the address names', async () => {
    const lines = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='];
    const head = `GET /e/openai/v1/realtime?model=small-1 HTTP/1.1\r\nHost: ${new URL(server.url).host}\r\nX-ABP-Key: ${held}\r\n${lines.join('\r\n')}\r\n\r\n`;
    expect(await rawCall(server.url, head)).toMatch(/^HTTP\/1\.1 403 /);
    expect(arrived).toEqual([]);
  });

  it.each<[string, string, object]>([
    ['the model', '/e/openai/v1/chat/completions', { model: 'small-1', messages: MESSAGES }],
    ['fallbacks among them', '/e/openai/v1/chat/completions', { model: 'small-1', models: ['small-2'], messages: MESSAGES }],
    [
      'a tool with an argument of that name',
      '/e/claude/v1/messages',
      {
        model: 'small-1',
        max_tokens: 5,
        tools: [{ name: 'buy', input_schema: { type: 'object', properties: { model: { type: 'string', default: 'large' } } } }],
        messages: MESSAGES,
      },
    ],
    ['a name that a route turns into one', '/v1/chat/completions', { model: 'alias', messages: MESSAGES }],
    ['the model in a path', '/e/gemini/v1beta/models/small-1:generateContent', { contents: [{ parts: [{ text: 'hi' }] }] }],
    ['the model, translated', '/e/openai/v1/messages', { model: 'small-1', max_tokens: 5, messages: MESSAGES }],
  ])('reaches the engine with %s', async (_, path, body) => {
    await sent(path, body);
    expect(arrived).toHaveLength(1);
  });

  it('reads lists and files', async () => {
    expect((await call(`${server.url}/e/openai/v1/files`, { headers: ['x-abp-key', held] })).status).toBe(200);
  });
});

it('models that the operator denies are denied to everybody on the same ways', async () => {
  const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`; // likewise
  const strict = await startGateway({ engines: { openai: { url, key: 'k' } }, config: { policy: { deny_models: ['large*'] } } });
  const ask = async (path: string, body: object): Promise<number> => (await post(`${strict.url}${path}`, body)).status;
  expect(await ask('/e/openai/v1/chat/completions', { model: 'small', models: ['large-1'], messages: MESSAGES })).toBe(403);
  expect(await ask('/e/openai/v1/chat/completions', { messages: MESSAGES })).toBe(403);
  expect(await ask('/e/openai/v1/batches', {})).toBe(403);
  expect(arrived).toEqual([]);
  expect(await ask('/e/openai/v1/chat/completions', { model: 'small', messages: MESSAGES })).toBe(200);
  await strict.close();
});
