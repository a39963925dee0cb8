import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI, { RateLimitError } from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { call, post, send, type WireAnswer } from '../support/http-call.ts';
import { chunk, chunkedHead, type RecordingUpstream, startUpstream, whole } from '../support/recording-upstream.ts';
import { startServe } from '../support/serve.ts';
import { ANSWER, adminCall, COST } from './priced-engine.ts';

let upstream: RecordingUpstream;
let server: TestGateway;
let sent: number;
/** Nobody listens there. */
const CLOSED = 'http://127.0.0.1:1';

beforeAll(async () => {
  upstream = await startUpstream();
  const engines = { claude: { url: upstream.url, key: 'k' }, gemini: { url: upstream.url }, groq: { url: CLOSED, key: 'k' } };
  server = await startGateway({ engines, config: { auth: { local: false } } });
});
afterAll(async () => {
  await server.close();
  await upstream.close();
});
beforeEach(() => {
  sent = 0;
  upstream.answer((socket) => {
    sent += 1;
    socket.write(whole(JSON.stringify(ANSWER)));
  });
});

const admin = (method: string, path: string, body?: object, to: TestGateway = server): Promise<WireAnswer> =>
  adminCall(to, method, path, body);

const json = ({ body }: WireAnswer) => JSON.parse(String(body));

async function newKey(to: TestGateway = server, more: object = {}): Promise<{ id: string; secret: string }> {
  const scopes = { raw: true, planes: ['gateway', 'agent', 'run'] };
  return json(await admin('POST', '/v1/keys', { name: 'held', scopes, ...more }, to));
}

/** A key with a budget of its own. */
async function keyWith(budget: object, to: TestGateway = server): Promise<{ secret: string; budget: string }> {
  const { id, secret } = await newKey(to);
  const made = await admin('POST', '/v1/budgets', { on: { key: id }, period: 'month', ...budget }, to);
  expect(made.status).toBe(201);
  return { secret, budget: json(made).id };
}

const CLAUDE = { model: 'claude-sonnet-4-5', max_tokens: 20, messages: [{ role: 'user', content: 'hi' }] };
const GEMINI = { contents: [{ parts: [{ text: 'hi' }] }], generationConfig: { maxOutputTokens: 20 } };

/** Every way and dialect, and the members that a vendor's SDK reads beside ours. */
const WAYS: readonly [string, string, object, object][] = [
  ['relayed', '/e/claude/v1/messages', CLAUDE, { type: 'rate_limit_error' }],
  ['spliced', '/v1/messages', { ...CLAUDE, model: 'claude/claude-sonnet-4-5' }, { type: 'rate_limit_error' }],
  ['mapped from Chat', '/e/claude/v1/chat/completions', CLAUDE, { type: 'insufficient_quota' }],
  [
    'mapped from Responses',
    '/e/claude/v1/responses',
    { model: 'claude-sonnet-4-5', max_output_tokens: 20, input: 'hi' },
    { type: 'insufficient_quota' },
  ],
  ['mapped from Gemini', '/e/claude/v1beta/models/claude-sonnet-4-5:generateContent', GEMINI, { status: 'RESOURCE_EXHAUSTED' }],
  ['mapped from Kimi', '/e/claude/kimi/v1/chat/completions', CLAUDE, { type: 'exceeded_current_quota_error' }],
  ['mapped from Copilot', '/e/claude/copilot/chat/completions', CLAUDE, { type: 'BudgetExceeded' }],
  ['raw', '/e/claude/v1/messages/batches', { requests: [] }, {}],
];

describe('a budget that is used up', () => {
  it.each(WAYS)('is told in the shape of the SDK, with the time of its reset: %s', async (_, path, body, words) => {
    const { secret, budget } = await keyWith({ limit_requests: 1 });
    const ask = (): Promise<WireAnswer> => post(`${server.url}${path}`, body, ['x-abp-key', secret]);
    expect((await ask()).status).toBe(200);
    const refused = await ask();
    expect(refused.status).toBe(429);
    const { error } = json(refused);
    const { resets_at: resetsAt } = error.details;
    expect(error).toMatchObject({ code: 'budget_exceeded', message: expect.stringContaining('is used up'), ...words });
    expect(error.details).toMatchObject({ budget, period: 'month', limit: 'limit_requests', allowed: 1, spent: 1, reserved: 0 });
    expect(error.details.documentation_url).toContain('budget_exceeded');
    const seconds = (Date.parse(resetsAt) - Date.now()) / 1000;
    expect(Math.abs(Number(refused.headers['retry-after']) - seconds)).toBeLessThan(60);
    expect(sent).toBe(1);
  });

  it('in all is tried once by an SDK, which is told that trying again does not help', async () => {
    const { secret } = await keyWith({ limit_requests: 1, period: 'total' });
    const client = new OpenAI({ baseURL: `${server.url}/e/claude/v1`, apiKey: secret, maxRetries: 5 });
    const ask = () =>
      client.chat.completions.create({ model: 'claude-sonnet-4-5', max_tokens: 20, messages: [{ role: 'user', content: 'hi' }] });
    await ask();
    const error = await ask().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(RateLimitError);
    expect((error as RateLimitError).headers?.get('x-should-retry')).toBe('false');
    expect((error as RateLimitError).headers?.get('retry-after')).toBe('3600');
    expect(sent).toBe(1);
  });
});

describe('a budget', () => {
  it('is for an engine by any of its names, and for a coding agent by the name of its backend', async () => {
    const { secret } = await newKey();
    const made = json(await admin('POST', '/v1/budgets', { on: { engine: 'anthropic' }, period: 'total', limit_requests: 1 }));
    onTestFinished(async () => void (await admin('DELETE', `/v1/budgets/${made.id}`)));
    expect(made.on).toEqual({ engine: 'claude' });
    const statuses = [];
    for (let at = 0; at < 2; at += 1)
      statuses.push((await post(`${server.url}/e/claude/v1/messages`, CLAUDE, ['x-abp-key', secret])).status);
    expect(statuses.at(-1)).toBe(429);
    const agent = json(await admin('POST', '/v1/budgets', { on: { agent: 'adapter:codex' }, period: 'day', limit_requests: 1 }));
    expect(agent.on).toEqual({ agent: 'codex' });
    await admin('DELETE', `/v1/budgets/${agent.id}`);
  });

  it('goes with the clock of the machine, forward and back, and counts each period for itself', async () => {
    const { secret, budget } = await keyWith({ limit_requests: 2, period: 'hour' });
    const ask = async (): Promise<number> => (await post(`${server.url}/e/claude/v1/messages`, CLAUDE, ['x-abp-key', secret])).status;
    const HOUR_MS = 3_600_000;
    const now = Math.floor(Date.now() / HOUR_MS) * HOUR_MS + 60_000;
    let clock = now;
    const watch = vi.spyOn(Date, 'now').mockImplementation(() => clock);
    onTestFinished(() => watch.mockRestore());
    expect([await ask(), await ask(), await ask()]).toEqual([200, 200, 429]);
    clock = now + 365 * 24 * HOUR_MS;
    expect([await ask(), await ask(), await ask()]).toEqual([200, 200, 429]);
    clock = now;
    expect(await ask()).toBe(429);
    expect(json(await admin('GET', `/v1/budgets/${budget}`)).spent.requests).toBe(2);
    clock = now + HOUR_MS;
    expect([await ask(), await ask(), await ask()]).toEqual([200, 200, 429]);
    // Neither kept in memory, so both are read again: what was spent at times that are yet to come is not of this hour.
    clock = now - HOUR_MS;
    expect([await ask(), await ask(), await ask()]).toEqual([200, 200, 429]);
    clock = now;
    await expect.poll(ask).toBe(429);
  });

  it('is made, shown, changed and deleted', async () => {
    const { id } = await newKey();
    const made = json(await admin('POST', '/v1/budgets', { on: { key: id }, period: 'day', limit_requests: 2, limit_tokens: 10_000 }));
    expect(made).toMatchObject({
      on: { key: id },
      period: 'day',
      limit_requests: 2,
      limit_tokens: 10_000,
      action: 'refuse',
      source: 'api',
      spent: { nano_usd: 0, tokens: 0, requests: 0 },
      reserved: { nano_usd: 0, tokens: 0, requests: 0 },
    });
    expect(Date.parse(made.resets_at) - Date.parse(made.period_start)).toBe(24 * 3600 * 1000);
    expect(json(await admin('GET', '/v1/budgets')).items).toContainEqual(made);
    const changed = json(await admin('PATCH', `/v1/budgets/${made.id}`, { limit_requests: 3, limit_tokens: null, action: 'warn' }));
    expect(changed).toMatchObject({ limit_requests: 3, action: 'warn' });
    expect(changed).not.toHaveProperty('limit_tokens');
    expect((await admin('PATCH', `/v1/budgets/${made.id}`, { limit_requests: null })).status).toBe(422);
    expect((await admin('DELETE', `/v1/budgets/${made.id}`)).status).toBe(204);
    expect([(await admin('GET', `/v1/budgets/${made.id}`)).status, (await admin('DELETE', `/v1/budgets/${made.id}`)).status]).toEqual([
      404, 404,
    ]);
  });

  it.each([
    [400, { on: { key: 'local' }, period: 'day' }],
    [400, { on: {}, period: 'day', limit_requests: 1 }],
    [400, { on: { key: 'local', tag: 'a' }, period: 'day', limit_requests: 1 }],
    [400, { on: { tag: 'x'.repeat(201) }, period: 'day', limit_requests: 1 }],
    [400, { on: { agent: 'a\0' }, period: 'day', limit_requests: 1 }],
    [400, { on: { key: 'local' }, period: 'year', limit_requests: 1 }],
    [400, { on: { key: 'local' }, period: 'day', limit_requests: 0 }],
    [400, { on: { key: 'local' }, period: 'day', limit_nano_usd: 0.5 }],
    [422, { on: { key: 'key_nobody' }, period: 'day', limit_requests: 1 }],
    [422, { on: { engine: 'nothing' }, period: 'day', limit_requests: 1 }],
    [422, { on: { user: 'nobody' }, period: 'day', limit_requests: 1 }],
  ])('is refused with %i: %j', async (status, terms) => {
    expect((await admin('POST', '/v1/budgets', terms)).status).toBe(status);
  });

  it('counts what was spent in its period before it was made, and holds from the next call on', async () => {
    const { id, secret } = await newKey();
    const ask = async (): Promise<number> => (await post(`${server.url}/e/claude/v1/messages`, CLAUDE, ['x-abp-key', secret])).status;
    expect([await ask(), await ask()]).toEqual([200, 200]);
    const made = json(await admin('POST', '/v1/budgets', { on: { key: id }, period: 'month', limit_nano_usd: 3 * COST }));
    expect(made.spent).toEqual({ nano_usd: 2 * COST, tokens: 100, requests: 2 });
    expect([await ask(), await ask()]).toEqual([200, 429]);
    expect((await admin('PATCH', `/v1/budgets/${made.id}`, { limit_nano_usd: 4 * COST })).status).toBe(200);
    expect([await ask(), await ask()]).toEqual([200, 429]);
  });

  it('counts a call that was under way when it was made, once that has ended, though nobody looks at the budget', async () => {
    const { id, secret } = await newKey();
    let answer: (() => void) | undefined;
    upstream.answer((socket) => {
      answer = () => void socket.write(whole(JSON.stringify(ANSWER)));
    });
    const early = post(`${server.url}/e/claude/v1/messages`, CLAUDE, ['x-abp-key', secret]);
    await expect.poll(() => answer !== undefined).toBe(true);
    const { id: budget } = json(await admin('POST', '/v1/budgets', { on: { key: id }, period: 'month', limit_requests: 10 }));
    const used = async (): Promise<string | undefined> => {
      const { body } = await admin('GET', '/metrics');
      return new RegExp(`^abp_budget_used_ratio\\{budget="${budget}".*\\} (.+)$`, 'm').exec(String(body))?.[1];
    };
    expect(await used()).toBe('0');
    answer?.();
    expect((await early).status).toBe(200);
    await expect.poll(used).toBe('0.1');
  });

  it('of a tag or an engine holds all who bring it', async () => {
    const [one, other] = [await newKey(server, { tags: ['nightly'] }), await newKey(server, { tags: ['nightly', 'more'] })];
    const ask = async ({ secret }: { secret: string }): Promise<number> =>
      (await post(`${server.url}/e/claude/v1/messages`, CLAUDE, ['x-abp-key', secret])).status;
    const { id } = json(await admin('POST', '/v1/budgets', { on: { tag: 'nightly' }, period: 'month', limit_requests: 2 }));
    expect([await ask(one), await ask(other), await ask(one), await ask(other), await ask(await newKey())]).toEqual([
      200, 200, 429, 429, 200,
    ]);
    await admin('DELETE', `/v1/budgets/${id}`);
    const spent = json(await admin('POST', '/v1/budgets', { on: { engine: 'claude' }, period: 'total', limit_requests: 100_000 }));
    await admin('PATCH', `/v1/budgets/${spent.id}`, { limit_requests: spent.spent.requests + 1 });
    expect([await ask(other), await ask(other)]).toEqual([200, 429]);
    await admin('DELETE', `/v1/budgets/${spent.id}`);
    expect(await ask(other)).toBe(200);
  });

  it('that warns lets everything pass and tells the log of each threshold', async () => {
    const { secret, budget } = await keyWith({ limit_requests: 2, action: 'warn' });
    const statuses: number[] = [];
    for (let at = 0; at < 4; at += 1)
      statuses.push((await post(`${server.url}/e/claude/v1/messages`, CLAUDE, ['x-abp-key', secret])).status);
    expect(statuses).toEqual([200, 200, 200, 200]);
    const lines = server
      .logs()
      .split('\n')
      .filter((line) => line.includes(budget) && line.includes('threshold'));
    expect(lines.map((line) => JSON.parse(line).percent)).toEqual([50, 100]);
  });

  it('tells of a threshold that is reached because it is made, or its limit lowered, after the calls', async () => {
    const { id, secret } = await newKey();
    for (let at = 0; at < 3; at += 1) await post(`${server.url}/e/claude/v1/messages`, CLAUDE, ['x-abp-key', secret]);
    const percents = (budget: string): number[] => {
      const lines = server.logs().split('\n');
      return lines.filter((line) => line.includes(budget) && line.includes('budget.threshold')).map((line) => JSON.parse(line).percent);
    };
    const made = json(await admin('POST', '/v1/budgets', { on: { key: id }, period: 'month', limit_requests: 5 }));
    await expect.poll(() => percents(made.id)).toEqual([50]);
    await admin('PATCH', `/v1/budgets/${made.id}`, { limit_requests: 3 });
    await expect.poll(() => percents(made.id)).toEqual([50, 100]);
    await admin('PATCH', `/v1/budgets/${made.id}`, { limit_requests: 3 });
    expect(percents(made.id)).toEqual([50, 100]);
  });

  it('tells a webhook of each threshold', async () => {
    const told: { percent: number; on: object; spent: object }[] = [];
    const hook = http.createServer((request, response) => {
      let text = '';
      request.on('data', (part) => (text += String(part)));
      request.on('end', () => {
        told.push(JSON.parse(text));
        response.end();
      });
    });
    await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void hook.close());
    const budgets = `http://127.0.0.1:${(hook.address() as AddressInfo).port}/`; // a listening TCP server has one
    const other = await startGateway({
      config: { webhooks: { budgets }, budgets: [{ on: { key: 'local' }, period: 'day', limit_requests: 2 }] },
    });
    onTestFinished(other.close);
    for (let at = 0; at < 3; at += 1) await post(`${other.url}/e/sim/v1/messages`, CLAUDE);
    await expect.poll(() => told.map(({ percent }) => percent)).toEqual([50, 100]);
    expect(told[1]).toMatchObject({ event: 'budget.threshold', on: { key: 'local' }, spent: { requests: 2 }, limits: { requests: 2 } });
  });

  it('gets back what a call reserved whose caller went away, whose engine broke off or never answered rightly', async () => {
    const { secret, budget } = await keyWith({ limit_tokens: 100_000 });
    const headers = ['x-abp-key', secret, 'content-type', 'application/json'];
    const url = `${server.url}/e/claude/v1/messages`;
    const body = JSON.stringify({ ...CLAUDE, stream: true });
    upstream.answer((socket) => {
      socket.write(chunkedHead());
      socket.write(chunk('event: ping\ndata: {"type":"ping"}\n\n'));
    });
    const gone = await send(url, { method: 'POST', headers, body });
    expect(json(await admin('GET', `/v1/budgets/${budget}`)).reserved.tokens).toBeGreaterThan(0);
    gone.destroy();
    const reserved = async (): Promise<number> => json(await admin('GET', `/v1/budgets/${budget}`)).reserved.requests;
    await expect.poll(reserved).toBe(0);
    upstream.answer((socket) => void socket.destroy());
    await post(url, CLAUDE, ['x-abp-key', secret]);
    upstream.answer((socket) => void socket.write('HTTP/1.1 500 Oh\r\ncontent-length: 2\r\n\r\n{}'));
    await post(url, CLAUDE, ['x-abp-key', secret]);
    await expect.poll(reserved).toBe(0);
    expect(json(await admin('GET', `/v1/budgets/${budget}`)).spent.requests).toBe(3);
  });

  it.each([
    ['mapped, without a key', '/e/gemini/v1/messages', CLAUDE],
    ['mapped, out of reach', '/e/groq/v1/messages', CLAUDE],
    ['relayed, out of reach', '/e/groq/v1/chat/completions', CLAUDE],
    ['raw, out of reach', '/e/groq/v1/batches', { requests: [] }],
  ])('is not used up by calls that come to no engine: %s', async (_, path, body) => {
    const { secret, budget } = await keyWith({ limit_requests: 1 });
    const ask = async (): Promise<number> => (await post(`${server.url}${path}`, body, ['x-abp-key', secret])).status;
    expect([await ask(), await ask(), await ask()]).toEqual([503, 503, 503]);
    expect(json(await admin('GET', `/v1/budgets/${budget}`)).spent.requests).toBe(0);
    expect((await post(`${server.url}/e/claude/v1/messages`, CLAUDE, ['x-abp-key', secret])).status).toBe(200);
  });

  it('of the configuration is listed, holds, and is changed in the file alone', async () => {
    const budgets = [{ on: { key: 'local' }, period: 'day' as const, limit_requests: 1 }];
    const other = await startGateway({ config: { budgets } });
    onTestFinished(other.close);
    const ask = async (): Promise<number> => (await post(`${other.url}/e/sim/v1/messages`, CLAUDE)).status;
    expect([await ask(), await ask()]).toEqual([200, 429]);
    const [item] = json(await admin('GET', '/v1/budgets', undefined, other)).items;
    expect(item).toMatchObject({ source: 'configuration', created_at: null, spent: { requests: 1 } });
    expect((await admin('DELETE', `/v1/budgets/${item.id}`, undefined, other)).status).toBe(409);
  });
});

it('what was spent is known after a restart, to the call and the billionth of a dollar', async () => {
  const home = mkdtempSync(join(tmpdir(), 'abp-budgets-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const start = () => startGateway({ home, engines: { claude: { url: upstream.url, key: 'k' } }, config: { auth: { local: false } } });
  const first = await start();
  const { secret, budget } = await keyWith({ limit_nano_usd: 3 * COST, limit_requests: 10 }, first);
  const ask = async (to: TestGateway, path = '/e/claude/v1/messages'): Promise<number> =>
    (await post(`${to.url}${path}`, CLAUDE, ['x-abp-key', secret])).status;
  expect([await ask(first), await ask(first), await ask(first, '/e/nothing/v1/messages')]).toEqual([200, 200, 404]);
  await first.close();
  const second = await start();
  onTestFinished(second.close);
  const { spent } = json(await admin('GET', `/v1/budgets/${budget}`, undefined, second));
  expect(spent).toEqual({ nano_usd: 2 * COST, tokens: 100, requests: 2 });
  expect([await ask(second), await ask(second)]).toEqual([200, 429]);
});

it('what was spent is known after the process was killed, calls that were under way included', async () => {
  const home = mkdtempSync(join(tmpdir(), 'abp-budgets-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const config = join(home, 'abp.toml');
  writeFileSync(config, '[[budgets]]\non = { key = "local" }\nperiod = "total"\nlimit_requests = 3\n');
  const env = { ABP_CONFIG: config };
  const body = { model: 'm', max_tokens: 50, stream: true, messages: [{ role: 'user', content: 'hi' }] };
  const ask = async (url: string): Promise<number> => (await post(`${url}/e/sim/v1/messages`, body)).status;
  const first = await startServe(join(home, 'home'), env);
  expect(await ask(first.url)).toBe(200);
  const waiting = { ...body, messages: [{ role: 'user', content: 'write slowly, then wait 60000 ms' }] };
  const open = http.request(`${first.url}/e/sim/v1/messages`, { method: 'POST', headers: { 'content-type': 'application/json' } });
  open.on('error', () => undefined);
  open.end(JSON.stringify(waiting));
  const token = readFileSync(join(home, 'home', 'token'), 'utf8').trim();
  const view = async (url: string) =>
    JSON.parse(String((await call(`${url}/v1/budgets`, { headers: ['authorization', `Bearer ${token}`] })).body)).items[0];
  await expect.poll(async () => (await view(first.url)).reserved.requests).toBe(1);
  await first.end('SIGKILL');
  const second = await startServe(join(home, 'home'), env);
  expect(await view(second.url)).toMatchObject({ spent: { requests: 2 }, reserved: { requests: 0 } });
  expect([await ask(second.url), await ask(second.url)]).toEqual([200, 429]);
});
