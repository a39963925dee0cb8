import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { call } from '../support/http-call.ts';

const ORIGIN = 'https://app.example';
let server: TestGateway;
beforeAll(async () => {
  server = await startGateway({ config: { server: { origins: [ORIGIN] } } });
});
afterAll(() => server?.close());

const BODY = JSON.stringify({ model: 'sim-1', max_tokens: 50, messages: [{ role: 'user', content: 'hello' }] });
const JSON_TYPE = ['content-type', 'application/json'] as const;

/** Paths that are answered in different rooms: relayed, by a control route, and refused. */
const ANSWERS = [
  ['an engine', 'POST', '/e/sim/v1/messages', { body: BODY, status: 200 }],
  ['a control route', 'GET', '/v1/receipts', { status: 200 }],
  ['an unknown path', 'GET', '/v1/nothing', { status: 404 }],
  ['a refused body', 'POST', '/e/sim/v1/messages', { body: '{', status: 400 }],
] as const;

describe('a page of an allowed origin', () => {
  it.each(ANSWERS)('may read what %s answers', async (_, method, path, { body, status }: { body?: string; status: number }) => {
    const answer = await call(`${server.url}${path}`, {
      method,
      headers: ['origin', ORIGIN, ...JSON_TYPE],
      ...(body === undefined ? {} : { body }),
    });
    expect(answer.status).toBe(status);
    expect(answer.headers).toMatchObject({ 'access-control-allow-origin': ORIGIN, vary: expect.stringContaining('Origin') });
    expect(answer.headers['access-control-expose-headers']).toContain('X-ABP-Run-Id');
    expect(answer.headers['access-control-allow-credentials']).toBeUndefined();
  });

  it('may ask before it sends', async () => {
    const answer = await call(`${server.url}/v1/messages`, {
      method: 'OPTIONS',
      headers: ['origin', ORIGIN, 'access-control-request-method', 'POST', 'access-control-request-headers', 'authorization,x-abp-key'],
    });
    expect(answer.status).toBe(204);
    expect(answer.headers).toMatchObject({
      'access-control-allow-origin': ORIGIN,
      'access-control-allow-methods': expect.stringContaining('POST'),
      'access-control-allow-headers': 'authorization,x-abp-key',
    });
  });
});

describe('everybody else', () => {
  it('gets no leave: a page of another origin is refused, also when its browser only asks', async () => {
    const headers = ['origin', 'https://evil.example', 'access-control-request-method', 'POST'];
    const answer = await call(`${server.url}/v1/messages`, { method: 'OPTIONS', headers });
    expect([answer.status, answer.headers['access-control-allow-origin']]).toEqual([403, undefined]);
  });

  it('a caller that is no page sees no CORS header', async () => {
    const { headers } = await call(`${server.url}/v1/receipts`);
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });
});

describe('a ticket', () => {
  const ticketFor = async (path: string): Promise<string> => {
    const answer = await call(`${server.url}/v1/tickets`, {
      method: 'POST',
      headers: ['authorization', `Bearer ${server.token}`, ...JSON_TYPE],
      body: JSON.stringify({ path }),
    });
    expect(answer.status).toBe(201);
    return JSON.parse(answer.body.toString()).ticket;
  };
  const status = async (path: string, method = 'GET'): Promise<number> => (await call(`${server.url}${path}`, { method })).status;

  it('opens one address once, with the rights of the one who asked for it', async () => {
    expect(await status('/v1/keys')).toBe(403);
    const ticket = await ticketFor('/v1/keys');
    expect([await status(`/v1/keys?ticket=${ticket}`), await status(`/v1/keys?ticket=${ticket}`)]).toEqual([200, 401]);
  });

  it('opens no other address, no other query and no other method', async () => {
    expect(await status(`/v1/settings?ticket=${await ticketFor('/v1/keys')}`)).toBe(403);
    expect(await status(`/v1/keys?limit=5&ticket=${await ticketFor('/v1/keys')}`)).toBe(403);
    expect(await status(`/v1/keys?ticket=${await ticketFor('/v1/keys')}`, 'DELETE')).toBe(403);
    expect(await status(`/v1/keys?limit=5&ticket=${await ticketFor('/v1/keys?limit=5')}`)).toBe(200);
  });

  it('is in no log and in no answer', async () => {
    const { body } = await call(`${server.url}/v1/nothing?ticket=${'s'.repeat(32)}`);
    expect(body.toString()).not.toContain('ssss');
    expect(server.logs()).not.toContain('ssss');
  });
});
