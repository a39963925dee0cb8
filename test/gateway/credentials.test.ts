import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { call, post } from '../support/http-call.ts';
import { type RecordingUpstream, startUpstream } from '../support/recording-upstream.ts';

const BODY = '{"model":"m"}';
const ENGINE_KEY = 'sk-ant-of-the-engine';
let upstream: RecordingUpstream;
let caller: TestGateway;
let keyed: TestGateway;

beforeAll(async () => {
  upstream = await startUpstream();
  caller = await startGateway({ engines: { claude: { url: upstream.url } } });
  keyed = await startGateway({ engines: { claude: { url: upstream.url, key: ENGINE_KEY } } });
});
afterAll(async () => {
  await caller.close();
  await keyed.close();
  await upstream.close();
});

async function newKey(server: TestGateway): Promise<string> {
  const answer = await post(`${server.url}/v1/keys`, { name: 'test' }, ['authorization', `Bearer ${server.token}`]);
  expect(answer.status).toBe(201);
  return JSON.parse(answer.body.toString()).secret;
}

/** Everything the engine got of a call, as text. */
async function seen(server: TestGateway, path: string, headers: string[]): Promise<string> {
  const { status, body } = await call(`${server.url}${path}`, { method: 'POST', headers, body: BODY });
  if (status !== 200) throw new Error(`${status} ${body}`);
  const { line, headers: pairs, body: sent } = upstream.requests.at(-1)!;
  return [line, ...pairs.map(([name, value]) => `${name}: ${value}`), sent.toString()].join('\n');
}

describe('with the caller’s own credential', () => {
  it.each(['x-api-key', 'Authorization', 'x-goog-api-key', 'api-key'])('a foreign one in %s is forwarded unchanged', async (name) => {
    expect(await seen(caller, '/v1/messages', [name, 'Bearer sk-mine'])).toContain(`\n${name}: Bearer sk-mine\n`);
  });

  it('our key never reaches the engine, wherever it stands', async () => {
    const key = await newKey(caller);
    const places: [string, string[]][] = [
      ['/v1/messages', ['X-ABP-Key', key]],
      ['/v1/messages', ['Authorization', `Bearer ${key}`]],
      ['/v1/messages', ['x-api-key', key]],
      ['/v1/messages', ['x-goog-api-key', key]],
      ['/v1/messages', ['api-key', key]],
      [`/v1/messages?beta=true&key=${key}`, []],
      [`/k/${key}/v1/messages`, []],
      [`/k/${key}/e/claude/v1/messages`, ['x-api-key', 'sk-mine']],
    ];
    for (const [path, headers] of places) expect(await seen(caller, path, headers)).not.toContain(key);
    expect(upstream.requests.at(-1)?.headers).toContainEqual(['x-api-key', 'sk-mine']);
  });

  it('a foreign credential goes on beside our key', async () => {
    const text = await seen(caller, '/v1/messages', ['X-ABP-Key', await newKey(caller), 'authorization', 'Bearer sk-mine']);
    expect(text).toContain('\nauthorization: Bearer sk-mine\n');
  });

  it('the token of the home never reaches the engine, wherever it stands', async () => {
    for (const name of ['authorization', 'x-api-key', 'x-abp-key', 'api-key']) {
      const value = name === 'authorization' ? `Bearer ${caller.token}` : caller.token;
      expect(await seen(caller, '/v1/messages', [name, value])).not.toContain(caller.token);
    }
    expect(await seen(caller, `/v1/messages?key=${caller.token}`, [])).not.toContain(caller.token);
  });
});

describe('with the engine’s key', () => {
  it('the engine gets its key and nothing of the caller’s credentials', async () => {
    const key = await newKey(keyed);
    const headers = ['x-api-key', 'sk-mine-1', 'Authorization', 'Bearer sk-mine-2', 'api-key', 'sk-mine-3', 'X-ABP-Key', key];
    const text = await seen(keyed, '/v1/messages?key=sk-mine-4', headers);
    expect(text).toContain(`\nx-api-key: ${ENGINE_KEY}\n`);
    expect(text).not.toContain('sk-mine');
    expect(text).not.toContain(key);
  });

  it('says which variable is missing when there is none', async () => {
    const server = await startGateway({ engines: { claude: { url: upstream.url, auth: 'key' } } });
    const answer = await post(`${server.url}/v1/messages`, BODY, ['x-api-key', 'sk-mine']);
    expect(answer.status).toBe(503);
    expect(JSON.parse(answer.body.toString()).error).toMatchObject({ code: 'E007', message: 'Claude has no key: set ANTHROPIC_API_KEY' });
    await server.close();
  });
});

it('no secret was logged or put into an error', async () => {
  const wrong = 'abp_wrong-secret-0123456789';
  for (const path of [`/k/${wrong}/v1/messages`, `/k/${wrong}/nowhere`, `/v1/messages?key=${wrong}`, `/v1/nowhere?key=${wrong}`]) {
    const answer = await post(`${keyed.url}${path}`, BODY, ['x-api-key', wrong]);
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(answer.body.toString()).not.toContain(wrong);
  }
  const secret = await newKey(keyed);
  const lost = await call(`${keyed.url}/k/${secret}/nowhere`);
  expect(lost.status).toBe(404);
  expect(lost.body.toString()).not.toContain(secret);
  for (const server of [caller, keyed]) {
    for (const text of [ENGINE_KEY, 'sk-mine', 'abp_', server.token]) expect(server.logs()).not.toContain(text);
  }
  const receipts = await call(`${keyed.url}/v1/receipts?limit=1000`, { headers: ['authorization', `Bearer ${keyed.token}`] });
  for (const text of [ENGINE_KEY, 'sk-mine', 'abp_', keyed.token]) expect(receipts.body.toString()).not.toContain(text);
});
