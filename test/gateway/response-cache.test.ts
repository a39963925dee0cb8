import { expect, onTestFinished, test } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { call, post, type WireAnswer } from '../support/http-call.ts';
import { receiptOf } from '../support/receipt-of.ts';
import { type RecordingUpstream, startUpstream, whole } from '../support/recording-upstream.ts';
import { claudeAnswer, claudeStream } from './claude-answers.ts';

const CACHE = { ttl_s: 600, shared: false };

async function start(cache: object = CACHE): Promise<{ gateway: TestGateway; upstream: RecordingUpstream }> {
  const upstream = await startUpstream();
  onTestFinished(upstream.close);
  upstream.answer((socket, { body }) => {
    const about = ['request-id: req_1', 'x-ratelimit-remaining-requests: 3'];
    const streamed = body.includes('"stream":true');
    const type = streamed ? 'content-type: text/event-stream' : 'content-type: application/json';
    socket.write(whole(streamed ? claudeStream : JSON.stringify(claudeAnswer), { headers: [type, ...about] }));
  });
  const gateway = await startGateway({
    engines: { claude: { url: upstream.url, key: 'k' } },
    config: { routes: [{ match: 'kept-*', to: 'claude', cache: cache as never }] },
  });
  onTestFinished(gateway.close);
  return { gateway, upstream };
}

const body = { model: 'kept-1', max_tokens: 50, messages: [{ role: 'user', content: 'say hi' }] };
const state = ({ headers }: WireAnswer): unknown => headers['x-abp-cache'];

const WAYS = [
  { name: 'passed through', path: '/v1/messages', body },
  { name: 'passed through as a stream', path: '/v1/messages', body: { ...body, stream: true } },
  { name: 'mapped', path: '/v1/chat/completions', body },
  { name: 'mapped as a stream', path: '/v1/chat/completions', body: { ...body, stream: true } },
];

test.each(WAYS)('an equal request, $name, gets the same bytes again, and no engine is asked', async ({ path, body: asked }) => {
  const { gateway, upstream } = await start();
  const first = await post(`${gateway.url}${path}`, asked);
  // Other order, other white space.
  const second = await post(`${gateway.url}${path}`, JSON.stringify(Object.fromEntries(Object.entries(asked).reverse()), undefined, 2));
  expect([state(first), state(second), upstream.requests.length]).toEqual(['miss', 'hit', 1]);
  expect([second.status, second.headers['content-type']]).toEqual([200, first.headers['content-type']]);
  expect(second.body.equals(first.body)).toBe(true);
  expect([second.headers['request-id'], second.headers['x-ratelimit-remaining-requests']]).toEqual([undefined, undefined]);
  const receipt = await receiptOf(gateway.url, second.headers['x-abp-run-id']);
  expect(receipt).toMatchObject({
    status: 'completed',
    reason: 'cached',
    usage: null,
    response: null,
    attempts: [],
    cost: { nano_usd: 0 },
  });
  const { event_count: events } = await receiptOf(gateway.url, first.headers['x-abp-run-id']);
  expect(receipt.event_count).toBe(events);
});

test('a request that differs in any value, in its dialect or in its wishes is another one', async () => {
  const { gateway, upstream } = await start();
  await post(`${gateway.url}/v1/messages`, body);
  const others = [
    await post(`${gateway.url}/v1/messages`, { ...body, max_tokens: 51 }),
    await post(`${gateway.url}/v1/messages`, { ...body, model: 'kept-2' }),
    await post(`${gateway.url}/v1/messages`, { ...body, metadata: { user_id: 'ann' } }),
    await post(`${gateway.url}/v1/chat/completions`, body),
    await post(`${gateway.url}/v1/messages`, body, ['anthropic-beta', 'context-1m']),
    await post(`${gateway.url}/v1/messages`, body, ['anthropic-version', '2023-01-01']),
    await post(`${gateway.url}/v1/messages`, body, ['accept-encoding', 'gzip']),
  ];
  expect(others.map(state)).toEqual(others.map(() => 'miss'));
  expect(upstream.requests).toHaveLength(1 + others.length);
});

const NEVER = [
  { name: 'offers tools', more: { tools: [{ name: 'write', input_schema: { type: 'object' } }] } },
  { name: 'offers servers of tools', more: { mcp_servers: [{ type: 'url', url: 'https://tools.example', name: 'x' }] } },
  { name: 'goes on in a container', more: { container: 'c-1' } },
  { name: 'names a stored prompt', more: { prompt: { id: 'pmpt_1' } } },
  { name: 'holds half a character, as it is left where a text was cut', more: { system: 'cut \ud83d' } },
];

test.each(NEVER)('a request that $name is asked every time', async ({ more }) => {
  const { gateway, upstream } = await start();
  for (let at = 0; at < 2; at += 1) expect(state(await post(`${gateway.url}/v1/messages`, { ...body, ...more }))).toBe('miss');
  expect(upstream.requests).toHaveLength(2);
});

test('a request that two readers could read in two ways is asked every time, and its answer is given to nobody else', async () => {
  const { gateway, upstream } = await start({ ttl_s: 600, shared: true });
  const twice = JSON.stringify(body).replace('"say hi"', '"another", "content": "say hi"');
  const bytes = Buffer.from(JSON.stringify(body).replace('say hi', 'say \u0001'));
  bytes[bytes.indexOf(1)] = 0xff;
  const asked = [twice, twice, JSON.stringify(body), bytes, bytes];
  const states: unknown[] = [];
  const headers = ['content-type', 'application/json'];
  for (const one of asked) states.push(state(await call(`${gateway.url}/v1/messages`, { method: 'POST', headers, body: one })));
  expect([states, upstream.requests.length]).toEqual([['miss', 'miss', 'miss', 'miss', 'miss'], 5]);
});

test('a caller who names a deployment gets no answer of another one', async () => {
  const upstream = await startUpstream();
  onTestFinished(upstream.close);
  upstream.answer((socket) => void socket.write(whole(JSON.stringify(claudeAnswer))));
  const deployments = [
    { name: 'us', key: 'a', weight: 1 },
    { name: 'eu', key: 'b', weight: 1 },
  ];
  const gateway = await startGateway({
    engines: { claude: { url: upstream.url, deployments } },
    config: { routes: [{ match: 'kept-*', to: 'claude', cache: CACHE }] },
  });
  onTestFinished(gateway.close);
  const from = async (name: string): Promise<unknown> => state(await post(`${gateway.url}/v1/messages`, body, ['x-abp-deployment', name]));
  expect([await from('us'), await from('eu'), await from('us'), await from('eu')]).toEqual(['miss', 'miss', 'hit', 'hit']);
});

test('errors, broken streams and streams that fail inside are not kept', async () => {
  const { gateway, upstream } = await start();
  const failing = `event: error\ndata: ${JSON.stringify({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } })}\n\n`;
  const inside = claudeStream.slice(0, claudeStream.indexOf('event: content_block_stop')) + failing;
  upstream.answer((socket) => void socket.write(whole('{"type":"error","error":{"type":"api_error","message":"x"}}', { status: '500 X' })));
  expect((await post(`${gateway.url}/v1/messages`, body)).status).toBe(500);
  upstream.answer((socket) => void socket.write(whole(inside, { headers: ['content-type: text/event-stream'] })));
  for (let at = 0; at < 2; at += 1) expect(state(await post(`${gateway.url}/v1/messages`, { ...body, stream: true }))).toBe('miss');
  upstream.answer((socket) => void socket.end('HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{"'));
  for (let at = 0; at < 2; at += 1) expect((await post(`${gateway.url}/v1/messages`, { ...body, max_tokens: 7 })).complete).toBe(false);
  expect(upstream.requests).toHaveLength(5);
});

async function keyOf(gateway: TestGateway, more: object = {}): Promise<{ id: string; secret: string }> {
  const made = await post(`${gateway.url}/v1/keys`, { name: 'k', ...more }, ['x-abp-key', gateway.token]);
  return JSON.parse(String(made.body));
}

test('each caller has its own answers, unless the route shares them', async () => {
  for (const shared of [false, true]) {
    const { gateway } = await start({ ttl_s: 600, shared });
    const states: unknown[] = [];
    for (const { secret } of [await keyOf(gateway), await keyOf(gateway)]) {
      for (let at = 0; at < 2; at += 1) states.push(state(await post(`${gateway.url}/v1/messages`, body, ['x-abp-key', secret])));
    }
    expect(states).toEqual(['miss', 'hit', shared ? 'hit' : 'miss', 'hit']);
  }
});

test('a key may keep answers of its own, and a key that may not call the engine gets nothing from memory', async () => {
  const { gateway, upstream } = await start({ ttl_s: 600, shared: true });
  const plain = { ...body, model: 'claude-opus-5' };
  const { id, secret } = await keyOf(gateway, { cache: { ttl_s: 60 } });
  const ask = async (): Promise<unknown> => state(await post(`${gateway.url}/v1/messages`, plain, ['x-abp-key', secret]));
  expect([await ask(), await ask()]).toEqual(['miss', 'hit']);
  await call(`${gateway.url}/v1/keys/${id}`, {
    method: 'PATCH',
    headers: ['x-abp-key', gateway.token, 'content-type', 'application/json'],
    body: JSON.stringify({ cache: null }),
  });
  expect([await ask(), upstream.requests.length]).toEqual([undefined, 2]);
  await post(`${gateway.url}/v1/messages`, body);
  const elsewhere = await keyOf(gateway, { scopes: { engines: ['sim'] } });
  expect((await post(`${gateway.url}/v1/messages`, body, ['x-abp-key', elsewhere.secret])).status).toBe(403);
});
