import { Agent, createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Role } from '../../src/calls/scopes.ts';
import { HOLDERS, type Holder, hasPermission, permissionOf } from '../../src/gateway/auth/permissions.ts';
import type { Route } from '../../src/gateway/route.ts';
import { routes } from '../../src/gateway/routes/index.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { post } from '../support/http-call.ts';

let server: TestGateway;
let open: TestGateway;
const agent = new Agent({ keepAlive: true, maxSockets: 8 });
/** An engine that answers everything and agrees to every WebSocket. */
const engine = createServer((_request, response) => response.end('{}'));

/** The headers by which each holder is known, and where it calls. */
interface Caller {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly holders: readonly Holder[];
}
const callers = new Map<string, Caller>();
const dead = new Map<string, string>();

interface Answer {
  readonly status: number;
  readonly permission: unknown;
}

/** Some streams begin with their first event; they are asked for by HEAD, which goes the same way and ends at once. */
const isStream = (path: string): boolean => /\/(?:stream|events)$/.test(path);

async function ask(
  { method: asked, path }: Pick<Route, 'method' | 'path'>,
  { url, headers }: Pick<Caller, 'url' | 'headers'>,
): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const method = asked === 'GET' && isStream(path) ? 'HEAD' : asked;
  const place = path.replaceAll(/\{(\w+)\}/g, 'no-such-thing');
  const sent = httpRequest(`${url}${place}`, { method, agent, headers: { origin: url, ...headers } }, (answer) => {
    const { statusCode: status = 0 } = answer;
    if (status < 400) {
      answer.destroy();
      resolve({ status, permission: undefined });
      return;
    }
    let text = '';
    answer.on('data', (data) => (text += data));
    answer.on('end', () => resolve({ status, permission: method === 'HEAD' ? 'unsaid' : permissionIn(text) }));
    answer.on('error', reject);
  });
  sent.on('error', reject);
  sent.end();
  return await promise;
}

/** The members of an error, in our own shape and in that of the agent plane. */
function permissionIn(text: string): unknown {
  // A page for people, which nobody is refused.
  if (text.startsWith('<')) return undefined;
  const body = JSON.parse(text);
  return body.error?.details?.permission ?? body.details?.permission ?? body.permission;
}

async function keyOf(body: object, on = server): Promise<{ id: string; secret: string }> {
  const made = await post(`${on.url}/v1/keys`, { name: 'walker', ...body }, ['authorization', `Bearer ${on.token}`]);
  expect(made.status, String(made.body)).toBe(201);
  return JSON.parse(String(made.body));
}

beforeAll(async () => {
  engine.on('upgrade', (_request, socket) =>
    socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'),
  );
  await new Promise<void>((resolve) => engine.listen(0, '127.0.0.1', resolve));
  const engines = { openai: { url: `http://127.0.0.1:${(engine.address() as AddressInfo).port}`, key: 'k' } }; // a listening server has a port
  server = await startGateway({ engines, config: { auth: { local: false } } });
  open = await startGateway({ engines });
  const { url, token } = server;
  const admin = ['authorization', `Bearer ${token}`];
  const add = (name: string, headers: Record<string, string>, holders: readonly Holder[], on = url): void => {
    callers.set(name, { url: on, headers, holders });
  };
  add('the token', { 'x-abp-key': token }, ['admin']);
  add('an admin key', { 'x-abp-key': (await keyOf({ scopes: { admin: true } })).secret }, ['admin']);
  for (const role of Role.options) {
    add(`a key with the role ${role}`, { 'x-abp-key': (await keyOf({ scopes: { role } })).secret }, [role]);
    await post(`${url}/v1/users`, { id: role, role }, admin);
    add(`a key of a user with the role ${role}`, { 'x-abp-key': (await keyOf({ user: role })).secret }, [role]);
  }
  add('a key without a plane', { 'x-abp-key': (await keyOf({ scopes: { planes: [] } })).secret }, ['key']);
  for (const plane of ['gateway', 'agent', 'run'] as const) {
    add(`a key of the plane ${plane}`, { 'x-abp-key': (await keyOf({ scopes: { planes: [plane] } })).secret }, ['key', `plane ${plane}`]);
  }
  add('nobody on an open server', {}, ['local'], open.url);
  const { code } = server.gateway.browsers.sessions.invite('answer', 60_000);
  const paired = await fetch(`${url}/v1/console/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: url },
    body: JSON.stringify({ code }),
  });
  add('a paired browser', { cookie: (paired.headers.get('set-cookie') ?? '').split(';')[0] ?? '' }, ['paired']);
  const revoked = await keyOf({ scopes: { admin: true } });
  await fetch(`${url}/v1/keys/${revoked.id}`, { method: 'DELETE', headers: { authorization: `Bearer ${token}` } });
  dead.set('a wrong key', 'abp_nobody-has-ever-made-this-one');
  dead.set('a revoked key', revoked.secret);
  const expiring = await keyOf({ scopes: { admin: true }, expires_in_s: 0.05 });
  dead.set('an expired key', expiring.secret);
  const shown = { url, headers: { 'x-abp-key': expiring.secret } };
  await vi.waitFor(async () => expect((await ask({ method: 'GET', path: '/v1/keys' }, shown)).status).toBe(401), { timeout: 60_000 });
});
afterAll(async () => {
  agent.destroy();
  await server.close();
  await open.close();
  engine.closeAllConnections();
  engine.close();
});

const CALLER_NAMES = [
  'the token',
  'an admin key',
  ...Role.options.flatMap((role) => [`a key with the role ${role}`, `a key of a user with the role ${role}`]),
  'a key without a plane',
  ...['gateway', 'agent', 'run'].map((plane) => `a key of the plane ${plane}`),
  'nobody on an open server',
  'a paired browser',
];

/** A browser that signs out is nobody from then on. */
function signsOut({ method, path }: Pick<Route, 'method' | 'path'>): boolean {
  return method === 'DELETE' && path === '/v1/console/session';
}

describe('every route', () => {
  it('is walked for every holder of the table', () => {
    expect([...callers.keys()]).toEqual(CALLER_NAMES);
    expect(new Set([...callers.values()].flatMap(({ holders }) => holders))).toEqual(new Set(HOLDERS));
  });

  it.each(CALLER_NAMES)('answers %s as the table says', async (name) => {
    const caller = callers.get(name);
    if (caller === undefined) throw new Error(`nobody is called ${name}`);
    for (const route of routes.filter((one) => caller.headers.cookie === undefined || !signsOut(one))) {
      const permission = permissionOf(route);
      const allowed = caller.holders.some((holder) => hasPermission(holder, permission));
      const { status, permission: missing } = await ask(route, caller);
      const where = `${route.method} ${route.path} answered ${status}`;
      if (allowed) expect([401, 403], where).not.toContain(status);
      else expect([status, missing === 'unsaid' ? permission : missing], where).toEqual([403, permission]);
    }
  });

  it('is closed to callers without a key, but for the public ones', async () => {
    for (const route of routes) {
      const { status } = await ask(route, { url: server.url, headers: {} });
      expect(status === 401, `${route.method} ${route.path} answered ${status}`).toBe(permissionOf(route) !== 'public');
    }
  });

  it.each(['a wrong key', 'a revoked key', 'an expired key'])('is closed to %s, wherever it is shown', async (name) => {
    const secret = dead.get(name) ?? '';
    for (const headers of [{ 'x-abp-key': secret }, { authorization: `Bearer ${secret}` }]) {
      for (const route of routes) {
        const { status } = await ask(route, { url: server.url, headers });
        expect(status, `${route.method} ${route.path}`).toBe(401);
      }
    }
  });
});

const CALLS = [
  ['/e/sim/v1/messages', { model: 'sim-1', max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] }],
  ['/e/sim/v1/chat/completions', { model: 'sim-1', messages: [{ role: 'user', content: 'hi' }] }],
  ['/e/sim/v1/responses', { model: 'sim-1', input: 'hi' }],
  ['/e/sim/v1beta/models/sim-1:generateContent', { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] }],
] as const;

describe('a call to an engine', () => {
  it.each(CALLER_NAMES)('is answered for %s as the table says', async (name) => {
    const caller = callers.get(name);
    if (caller === undefined) throw new Error(`nobody is called ${name}`);
    const allowed = caller.holders.some((holder) => hasPermission(holder, 'engines.call'));
    for (const [path, body] of CALLS) {
      const { status } = await post(`${caller.url}${path}`, body, ['origin', caller.url, ...Object.entries(caller.headers).flat()]);
      expect(status, path).toBe(allowed ? 200 : 403);
    }
  });

  it('is refused without a key and with a dead one', async () => {
    for (const [path, body] of CALLS) {
      for (const headers of [[], ...[...dead.values()].map((secret) => ['x-api-key', secret])]) {
        expect((await post(`${server.url}${path}`, body, headers)).status, path).toBe(401);
      }
    }
  });
});

/** Ways to an engine whose bytes nobody reads, and places of a key that SDKs and coding agents use. */
const UNREAD: readonly (readonly [string, string, Readonly<Record<string, string>>])[] = [
  ['a raw path', '/e/openai/v1/files', {}],
  ['a WebSocket', '/e/openai/v1/realtime', { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' }],
];

/** The status of the answer; 101 where a WebSocket was opened. */
async function statusOf(url: string, headers: Readonly<Record<string, string>>, method = 'GET', body = ''): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const sent = httpRequest(url, { method, headers: { ...headers, 'content-length': String(body.length) } });
  sent.on('response', (answer) => resolve(answer.resume().statusCode ?? 0));
  sent.on('upgrade', (_answer, socket) => resolve(Number(socket.destroy() && 101)));
  sent.on('error', reject);
  sent.end(body);
  return await promise;
}

describe.each(UNREAD)('%s', (_, path, headers) => {
  const done = headers.upgrade === undefined ? 200 : 101;

  it.each(CALLER_NAMES)('is open for %s only where the table says so and the key goes as far', async (name) => {
    const caller = callers.get(name);
    if (caller === undefined) throw new Error(`nobody is called ${name}`);
    const isWide = caller.holders.some((holder) => holder === 'admin' || holder === 'local');
    const sent = { origin: caller.url, ...caller.headers, ...headers, 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' };
    expect(await statusOf(`${caller.url}${path}`, sent)).toBe(isWide ? done : 403);
  });

  it.each(Role.options)('is open for a key of the role %s that goes as far only where the table says so', async (role) => {
    const { secret } = await keyOf({ scopes: { role, raw: true } });
    const sent = { ...headers, 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' };
    const expected = hasPermission(role, 'engines.call') ? done : 403;
    expect(await statusOf(`${server.url}${path}`, { ...sent, 'x-abp-key': secret })).toBe(expected);
    expect(await statusOf(`${server.url}/k/${secret}${path}`, sent)).toBe(expected);
    const elsewhere = await keyOf({ scopes: { role, raw: true, engines: ['claude'] } });
    expect(await statusOf(`${server.url}${path}`, { ...sent, 'x-abp-key': elsewhere.secret })).toBe(role === 'admin' ? done : 403);
  });

  it('is closed without a key and to dead ones, in a header and in the path', async () => {
    expect(await statusOf(`${server.url}${path}`, headers)).toBe(401);
    for (const secret of dead.values()) {
      expect(await statusOf(`${server.url}${path}`, { ...headers, 'x-abp-key': secret })).toBe(401);
      expect(await statusOf(`${server.url}/k/${secret}${path}`, headers)).toBe(401);
    }
  });
});

describe('the place of a key', () => {
  const body = JSON.stringify(CALLS[3][1]);
  const json = { 'content-type': 'application/json' };

  it.each(CALLER_NAMES.filter((name) => name.includes(' key ')))('makes no difference for %s', async (name) => {
    const caller = callers.get(name);
    const secret = caller?.headers['x-abp-key'] ?? '';
    const expected = caller?.holders.some((holder) => hasPermission(holder, 'engines.call')) === true ? 200 : 403;
    for (const url of [`${server.url}/k/${secret}${CALLS[3][0]}`, `${server.url}${CALLS[3][0]}?key=${secret}`]) {
      expect(await statusOf(url, json, 'POST', body)).toBe(expected);
    }
  });

  it.each(['a wrong key', 'a revoked key', 'an expired key'])('opens nothing for %s', async (name) => {
    const secret = dead.get(name);
    for (const url of [`${server.url}/k/${secret}${CALLS[3][0]}`, `${server.url}${CALLS[3][0]}?key=${secret}`]) {
      expect(await statusOf(url, json, 'POST', body)).toBe(401);
    }
  });
});
