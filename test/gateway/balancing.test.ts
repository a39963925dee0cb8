import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { AgentApi } from '../support/agent-api.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { call, post } from '../support/http-call.ts';
import { startReceiver } from '../support/posts.ts';
import { receiptOf } from '../support/receipt-of.ts';
import { claudeAnswer, claudeStream } from './claude-answers.ts';

const KEYS = ['sk-first-key-000001', 'sk-second-key-00002', 'sk-third-key-0000003'];

interface Vendor {
  readonly url: string;
  /** The keys of the requests so far. */
  readonly seen: string[];
  /** How requests with a key are answered; 200 unless told. */
  readonly statuses: Map<string, { readonly status: number; readonly headers?: Readonly<Record<string, string>> }>;
}

/** An engine that knows its callers by their keys. */
async function vendor(): Promise<Vendor> {
  const seen: string[] = [];
  const statuses: Vendor['statuses'] = new Map();
  const keyOf = (request: http.IncomingMessage): string => {
    const key = String(request.headers['x-api-key'] ?? '');
    seen.push(key);
    return key;
  };
  const server = http.createServer((request, response) => {
    const key = keyOf(request);
    let body = '';
    request.on('data', (chunk) => {
      body += String(chunk);
    });
    request.on('end', () => {
      const { status, headers = {} } = statuses.get(key) ?? { status: 200 };
      if (status === 0) response.destroy();
      else if (status !== 200)
        response
          .writeHead(status, { 'content-type': 'application/json', ...headers })
          .end(JSON.stringify({ type: 'error', error: { type: 'rate_limit_error', message: `no for ${key}` } }));
      else if (body.includes('"stream":true')) response.writeHead(200, { 'content-type': 'text/event-stream' }).end(claudeStream);
      else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(claudeAnswer));
    });
  });
  server.on('upgrade', (request, socket) => {
    const { status } = statuses.get(keyOf(request)) ?? { status: 101 };
    socket.end(
      status === 101
        ? 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'
        : `HTTP/1.1 ${status} No\r\ncontent-length: 0\r\n\r\n`,
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen, statuses }; // a listening TCP server has one
}

async function start(config: object = {}, keys: readonly string[] = KEYS): Promise<{ gateway: TestGateway; upstream: Vendor }> {
  const upstream = await vendor();
  const deployments = keys.map((key, at) => ({ key, name: `k${at + 1}`, weight: 1 }));
  const gateway = await startGateway({ engines: { claude: { url: upstream.url, deployments } }, config: config as never });
  onTestFinished(gateway.close);
  return { gateway, upstream };
}

const body = { model: 'claude-opus-5', max_tokens: 50, messages: [{ role: 'user', content: 'say hi' }] };
const chat = { model: 'claude/claude-opus-5', messages: [{ role: 'user', content: 'say hi' }] };
const nameOf = (key: string | undefined): string => `k${KEYS.indexOf(key ?? '') + 1}`;

/** The ways that a request can take to an engine; each is made with `POST` or `GET` and answers when the engine does. */
const WAYS: Readonly<Record<string, (gateway: TestGateway) => Promise<{ status: number; headers: http.IncomingHttpHeaders }>>> = {
  relay: ({ url }) => post(`${url}/v1/messages`, body),
  'relayed stream': ({ url }) => post(`${url}/v1/messages`, { ...body, stream: true }),
  mapped: ({ url }) => post(`${url}/v1/chat/completions`, chat),
  'mapped stream': ({ url }) => post(`${url}/v1/chat/completions`, { ...chat, stream: true }),
  raw: ({ url }) => call(`${url}/e/claude/v1/files`),
  websocket: ({ url }) => upgrade(`${url}/e/claude/v1/live`),
};

function upgrade(url: string): Promise<{ status: number; headers: http.IncomingHttpHeaders }> {
  return new Promise((resolve, reject) => {
    const headers = {
      Connection: 'Upgrade',
      Upgrade: 'websocket',
      'Sec-WebSocket-Version': '13',
      'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
    };
    const request = http.get(url, { headers, agent: false });
    request.once('upgrade', (response, socket) => {
      socket.destroy();
      resolve({ status: response.statusCode ?? 0, headers: response.headers });
    });
    request.once('response', (response) => resolve({ status: response.statusCode ?? 0, headers: response.headers }));
    request.once('error', reject);
  });
}

describe.each(Object.entries(WAYS))('on the way %s', (way, ask) => {
  const good = way === 'websocket' ? 101 : 200;

  test('a call goes to one deployment, which the headers and the receipt name and no key does', async () => {
    const { gateway, upstream } = await start();
    const reply = await ask(gateway);
    expect([reply.status, reply.headers['x-abp-deployment']]).toEqual([good, nameOf(upstream.seen[0])]);
    const receipt = await receiptOf(gateway.url, reply.headers['x-abp-run-id']);
    expect(receipt.attempts).toMatchObject([{ engine: 'claude', deployment: nameOf(upstream.seen[0]), status: good }]);
    for (const key of KEYS) expect(JSON.stringify(receipt) + JSON.stringify(reply.headers) + gateway.logs()).not.toContain(key);
  });

  test('a call that one deployment turns down is taken by another, and later calls pass that one by', async () => {
    const { gateway, upstream } = await start();
    await ask(gateway);
    const [first = ''] = upstream.seen;
    upstream.statuses.set(first, { status: 429, headers: { 'retry-after': '60' } });
    const reply = await ask(gateway);
    expect([reply.status, reply.headers['x-abp-attempts']]).toEqual([good, '2']);
    const [, again, second] = upstream.seen;
    expect([again === first, second === first, reply.headers['x-abp-deployment']]).toEqual([true, false, nameOf(second)]);
    const { attempts } = await receiptOf(gateway.url, reply.headers['x-abp-run-id']);
    expect(attempts).toMatchObject([
      { deployment: nameOf(first), status: 429, error: 'the engine answered 429' },
      { deployment: nameOf(second), status: good, error: null },
    ]);
    expect((await ask(gateway)).headers['x-abp-attempts']).toBe('1');
    expect(upstream.seen[3]).toBe(second);
  });
});

test('every deployment is asked once, and the last refusal is the caller’s as it came', async () => {
  const { gateway, upstream } = await start();
  for (const key of KEYS) upstream.statuses.set(key, { status: 529 });
  const reply = await post(`${gateway.url}/v1/messages`, body);
  expect([reply.status, reply.headers['x-abp-attempts'], new Set(upstream.seen)]).toEqual([529, '3', new Set(KEYS)]);
  expect(upstream.seen).toHaveLength(3);
  expect(String(reply.body)).toContain('no for');
});

test('a refused key, a broken connection and a failing server are each left for another deployment', async () => {
  for (const status of [401, 0, 500]) {
    const { gateway, upstream } = await start();
    await post(`${gateway.url}/v1/messages`, body);
    const [first = ''] = upstream.seen;
    upstream.statuses.set(first, { status });
    const reply = await post(`${gateway.url}/v1/messages`, body);
    expect([status, reply.status, upstream.seen.at(-1) === first]).toEqual([status, 200, false]);
    const engines = JSON.parse(String((await call(`${gateway.url}/v1/engines`)).body));
    const { deployments } = engines.items.find(({ id }: { id: string }) => id === 'claude');
    const states = deployments.map(({ name, state, rests }: { name: string; state: string; rests: { reason: string }[] }) => [
      name,
      state,
      rests[0]?.reason,
    ]);
    expect(states).toContainEqual([nameOf(first), 'resting', status === 401 ? 'key_refused' : 'failing']);
  }
});

test('an error that another key would meet too is the caller’s at once', async () => {
  const { gateway, upstream } = await start();
  for (const key of KEYS) upstream.statuses.set(key, { status: 400 });
  expect((await post(`${gateway.url}/v1/messages`, body)).status).toBe(400);
  expect(upstream.seen).toHaveLength(1);
});

test('a route’s fallback is asked once all deployments of its engine have turned the call down', async () => {
  const { gateway, upstream } = await start({ routes: [{ match: 'smart', to: 'claude/real', fallback: ['sim/backup'] }] });
  for (const key of KEYS) upstream.statuses.set(key, { status: 429, headers: { 'retry-after': '30' } });
  const reply = await post(`${gateway.url}/v1/messages`, { ...body, model: 'smart' });
  expect([reply.status, reply.headers['x-abp-engine'], reply.headers['x-abp-deployment']]).toEqual([200, 'sim', undefined]);
  const { attempts } = await receiptOf(gateway.url, reply.headers['x-abp-run-id']);
  expect(attempts.map(({ engine, status }) => [engine, status])).toEqual([...KEYS.map(() => ['claude', 429]), ['sim', 200]]);
});

test('a caller may name the deployment, and hears which there are', async () => {
  const { gateway, upstream } = await start();
  const named = async (name: string) => await post(`${gateway.url}/v1/messages`, body, ['X-ABP-Deployment', name]);
  for (const name of ['k3', 'k1', 'k2']) expect((await named(name)).headers['x-abp-deployment']).toBe(name);
  expect(upstream.seen.map(nameOf)).toEqual(['k3', 'k1', 'k2']);
  const refused = await named('mars');
  expect([refused.status, String(refused.body)]).toEqual([400, expect.stringContaining('there are k1, k2, k3')]);
});

test('calls of a session stay together, and so do the turns of an agent', async () => {
  const { gateway, upstream } = await start();
  for (let at = 0; at < 6; at += 1) {
    const messages = [{ role: 'user', content: `question ${at}` }];
    await post(`${gateway.url}/v1/messages`, { ...body, messages }, ['X-ABP-Session', 'thread-7']);
  }
  expect(new Set(upstream.seen).size).toBe(1);
  const before = upstream.seen.length;
  const api = new AgentApi(gateway);
  const agent = await api.agent({ model: 'claude/claude-opus-5' });
  const { body: session } = await api.call('POST', '/v1/sessions', { agent_id: agent });
  for (let at = 0; at < 4; at += 1) {
    await api.call('POST', `/v1/sessions/${session.id}/messages`, { message: { content: `question ${at}` } });
    await expect.poll(() => upstream.seen.length).toBe(before + at + 1);
    await expect.poll(async () => (await api.call('GET', `/v1/sessions/${session.id}`)).body.status).toBe('idle');
  }
  expect(new Set(upstream.seen.slice(before)).size).toBe(1);
});

test('probes ask no engine that is denied to everybody', async () => {
  const [denied, allowed] = [await vendor(), await vendor()];
  const probed = (url: string) => ({ url, probe_s: 0.05, deployments: KEYS.slice(0, 2).map((key) => ({ key, weight: 1 })) });
  const gateway = await startGateway({
    engines: { claude: probed(denied.url), openai: probed(allowed.url) },
    config: { policy: { deny_engines: ['claude'] } },
  });
  onTestFinished(gateway.close);
  await expect.poll(() => allowed.seen.length).toBeGreaterThan(5);
  expect(denied.seen).toEqual([]);
});

test('probes find a deployment that is gone and one that is back before a caller does; metrics and webhooks tell of each', async () => {
  const upstream = await vendor();
  const hook = await startReceiver();
  const gateway = await startGateway({
    engines: {
      claude: { url: upstream.url, probe_s: 0.2, deployments: KEYS.slice(0, 2).map((key) => ({ key, weight: 1 })) },
    },
    config: { webhooks: [{ url: hook.url, events: ['deployment.*'] }] },
  });
  onTestFinished(gateway.close);
  const up = async (): Promise<string[]> => {
    const { body } = await call(`${gateway.url}/metrics`);
    return [...String(body).matchAll(/^abp_deployment_up\{engine="claude",deployment="(\w+)"\} (\d)$/gm)].map(
      ([, name, value]) => `${name} ${value}`,
    );
  };
  const told = (): unknown[] =>
    hook.posts.map(({ body }) => JSON.parse(body)).map(({ event, deployment, reason }) => [event, deployment, reason]);
  expect(await up()).toEqual(['d1 1', 'd2 1']);
  upstream.statuses.set(KEYS[1] ?? '', { status: 401 });
  await expect.poll(up).toEqual(['d1 1', 'd2 0']);
  await expect.poll(told).toContainEqual(['deployment.down', 'd2', 'key_refused']);
  const asked = upstream.seen.length;
  const answers = await Promise.all(
    Array.from({ length: 4 }, (_, at) =>
      post(`${gateway.url}/v1/messages`, { model: 'm', max_tokens: 5, messages: [{ role: 'user', content: `${at}` }] }),
    ),
  );
  expect(answers.map(({ headers }) => headers['x-abp-deployment'])).toEqual(['d1', 'd1', 'd1', 'd1']);
  expect(upstream.seen.length).toBeGreaterThanOrEqual(asked + 4);
  upstream.statuses.clear();
  await expect.poll(up).toEqual(['d1 1', 'd2 1']);
  await expect.poll(told).toContainEqual(['deployment.up', 'd2', undefined]);
});

/** Agents at work: each asks again and again with all that was said, under a system prompt and tools that they share. */
function conversations(count: number, turns: number): object[][] {
  const system = [{ type: 'text', text: 'You are a careful engineer. '.repeat(80), cache_control: { type: 'ephemeral' } }];
  const tools = ['read', 'write', 'search'].map((name) => ({
    name,
    description: `The tool ${name}. `.repeat(20),
    input_schema: { type: 'object', properties: { path: { type: 'string' } } },
  }));
  return Array.from({ length: count }, (_, who) =>
    Array.from({ length: turns }, (_all, turn) => ({
      model: 'm',
      max_tokens: 20,
      system,
      tools,
      messages: Array.from({ length: 2 * turn + 1 }, (_one, at) => ({
        role: at % 2 === 0 ? 'user' : 'assistant',
        content: [
          {
            type: 'text',
            text: `${at % 2 === 0 ? 'result' : 'thought'} ${at} of agent ${who}: ${`words ${who} ${at} `.repeat(25)}`,
            ...(at === 2 * turn ? { cache_control: { type: 'ephemeral' } } : {}),
          },
        ],
      })),
    })),
  );
}

/** The part of all that the model read which came from a cache, with so many keys. */
async function hitRate(keys: number): Promise<{ rate: number; used: Set<unknown> }> {
  const deployments = Array.from({ length: keys }, (_, at) => ({ key: `key-${at}`, weight: 1 }));
  const gateway = await startGateway({ engines: { sim: { prompt_cache: true, deployments } } });
  const used = new Set<unknown>();
  let [read, all] = [0, 0];
  const agents = conversations(12, 7).map(async (asks) => {
    for (const ask of asks) {
      const reply = await post(`${gateway.url}/e/sim/v1/messages`, ask);
      used.add(reply.headers['x-abp-deployment']);
      const { usage } = JSON.parse(String(reply.body));
      read += usage.cache_read_input_tokens ?? 0;
      all += usage.input_tokens + (usage.cache_read_input_tokens ?? 0);
    }
  });
  await Promise.all(agents);
  await gateway.close();
  return { rate: read / all, used };
}

test('four keys find as much in their caches as one does', async () => {
  const [one, four] = [await hitRate(1), await hitRate(4)];
  expect(one.rate).toBeGreaterThan(0.7);
  expect(four.used.size).toBe(4);
  expect(four.rate / one.rate).toBeGreaterThanOrEqual(0.95);
});
