import { once } from 'node:events';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { type CallOptions, call, post, rawCall, send } from '../support/http-call.ts';
import { longestPiece } from '../support/processor-time.ts';

let server: TestGateway;
let before: readonly number[];
const GOOD = JSON.stringify({ model: 'sim-1', max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] });

beforeAll(async () => {
  server = await startGateway({ config: { limits: { vendor_body_mb: 1, in_flight_mb: 2 } } });
  before = await rows();
});
afterAll(() => server.close());
afterEach(async () => {
  expect(await rows()).toEqual(before);
  expect(server.gateway.calls.budget.held).toBe(0);
});

const token = (): string[] => ['authorization', `Bearer ${server.token}`];

/** How many receipts, keys and known runs there are. */
async function rows(): Promise<number[]> {
  const lists = await Promise.all(['receipts', 'keys'].map((name) => call(`${server.url}/v1/${name}?limit=1000`, { headers: token() })));
  return [...lists.map(({ body }) => JSON.parse(body.toString()).items.length), server.gateway.calls.live.count];
}

interface Refusal {
  readonly status: number;
  readonly code: string;
  /** `claude` for the shape that SDK reads. */
  readonly shape: 'claude' | 'ours';
}

async function refusal(path: string, options: CallOptions): Promise<Refusal> {
  const answer = await call(`${server.url}${path}`, options);
  const body = JSON.parse(answer.body.toString());
  const run = answer.headers['x-abp-run-id'];
  expect(run).toMatch(/^run_[0-9a-f]{32}$/);
  expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
  expect(body.error).toMatchObject({
    request_id: String(run).replace('run_', 'req_'),
    details: { documentation_url: `${server.url}/docs/errors/${body.error.code}` },
  });
  return { status: answer.status, code: body.error.code, shape: body.type === 'error' ? 'claude' : 'ours' };
}

const vendor = (headers: readonly string[], body: string | Buffer = GOOD): Promise<Refusal> =>
  refusal('/e/sim/v1/messages', { method: 'POST', headers, body });

describe('a request that a proxy passed on', () => {
  it.each([
    ['Forwarded', 'for=192.0.2.1'],
    ['X-Forwarded-For', '192.0.2.1'],
    ['X-Forwarded-Proto', 'https'],
    ['X-Real-IP', '192.0.2.1'],
    ['Via', '1.1 proxy'],
  ])('with %s is nobody’s without a key, although it comes from loopback', async (name, value) => {
    expect(await vendor([name, value])).toEqual({ status: 401, code: 'unauthenticated', shape: 'claude' });
  });

  it('with two Host headers is refused, whatever they say', async () => {
    const host = new URL(server.url).host;
    const answer = await rawCall(server.url, `GET /healthz HTTP/1.1\r\nHost: ${host}\r\nhost: ${host}\r\nConnection: close\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 400 [\s\S]*several Host headers/);
  });
});

describe('long names', () => {
  it('of models are refused in little time', async () => {
    const body = JSON.stringify({ model: 'a.'.repeat(30_000), max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] });
    const [refused, held] = await longestPiece(vendor([], body));
    expect(refused).toEqual({ status: 400, code: 'invalid_request', shape: 'claude' });
    expect(held).toBeLessThan(1000);
  });

  it('in paths are refused', async () => {
    const path = `/e/sim/v1beta/models/${'a.'.repeat(600)}:generateContent`;
    expect(await refusal(path, { method: 'POST', body: '{"contents":[]}' })).toMatchObject({ status: 400, code: 'invalid_request' });
  });

  it('of members are refused, and so are many members', async () => {
    const members = Array.from({ length: 300_000 }, (_, at) => `"${at}":0`).join(',');
    const big = await startGateway();
    const answer = await post(`${big.url}/e/sim/v1/messages`, `{${members}}`);
    expect([answer.status, answer.body.toString()]).toEqual([400, expect.stringContaining('more than 1000 members')]);
    await big.close();
  });
});

describe('what a web page or a rebound name could send', () => {
  it.each<[string, string[], number, string]>([
    ['a foreign Host', ['Host', 'evil.test'], 421, 'misdirected_request'],
    ['a rebound name with our port', ['Host', 'evil.test:PORT'], 421, 'misdirected_request'],
    ['the right address with a foreign port', ['Host', '127.0.0.1:1'], 421, 'misdirected_request'],
    ['a foreign Origin', ['Origin', 'http://evil.test'], 403, 'forbidden'],
    ['another port of loopback as Origin', ['Origin', 'http://127.0.0.1:9'], 403, 'forbidden'],
    ['a sandboxed page', ['Origin', 'null'], 403, 'forbidden'],
    ['a cross-site request without Origin', ['Sec-Fetch-Site', 'cross-site'], 403, 'forbidden'],
    ['a same-site request without Origin', ['Sec-Fetch-Site', 'same-site'], 403, 'forbidden'],
  ])('is refused on every kind of path: %s', async (_, headers, status, code) => {
    const real = headers.map((text) => text.replace('PORT', new URL(server.url).port));
    expect(await vendor(real)).toEqual({ status, code, shape: 'claude' });
    for (const path of ['/v1/receipts', '/healthz', '/', '/openapi.json', '/v1/nowhere']) {
      expect(await refusal(path, { headers: real })).toEqual({ status, code, shape: 'ours' });
    }
    expect(await refusal('/v1/keys', { method: 'POST', headers: [...real, ...token()], body: '{"name":"x"}' })).toMatchObject({
      status,
      code,
    });
  });

  it('gets no permission from a preflight', async () => {
    const headers = ['Origin', 'http://evil.test', 'Access-Control-Request-Method', 'POST'];
    const answer = await call(`${server.url}/v1/messages`, { method: 'OPTIONS', headers });
    expect(answer.status).toBe(403);
    expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });

  it('a request without Host gets 400', async () => {
    const answer = await rawCall(server.url, 'GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toMatch(/X-ABP-Run-Id: run_/i);
    expect(answer).toContain('"invalid_request"');
  });
});

describe('a bad path', () => {
  it.each([
    '//evil.test/v1/messages',
    '/../v1/messages',
    '/e/sim//v1/messages',
    '/e/sim/../v1/messages',
    '/v1/%2e%2e/messages',
    '/v1/..%2fkeys',
    '/e/%zz/v1/messages',
    '/v1/backends/%zz',
  ])('%s is 400', async (path) => {
    const got = await refusal(path, { method: path.includes('backends') ? 'GET' : 'POST', body: path.includes('backends') ? '' : GOOD });
    expect(got).toMatchObject({ status: 400, code: 'invalid_request' });
  });

  it('in absolute form is 400', async () => {
    const { host } = new URL(server.url);
    const answer = await rawCall(server.url, `GET http://evil.test/healthz HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  });

  it('that nobody knows is 404, and a wrong method 405 with the right ones', async () => {
    expect(await refusal('/v1/nowhere', {})).toEqual({ status: 404, code: 'not_found', shape: 'ours' });
    expect(await refusal('/e/sim/v1/nowhere', { method: 'POST', body: GOOD })).toMatchObject({ status: 404, code: 'not_found' });
    expect(await refusal('/v1/messages', { method: 'GET' })).toEqual({ status: 405, code: 'method_not_allowed', shape: 'claude' });
    expect((await call(`${server.url}/v1/messages`, { method: 'DELETE' })).headers.allow).toBe('POST');
    expect((await call(`${server.url}/v1/negotiate`, { method: 'PUT' })).headers.allow).toBe('POST');
    expect((await call(`${server.url}/v1/messages`, { method: 'HEAD' })).status).toBe(405);
  });

  it('asked to become a WebSocket is 426', async () => {
    const upgrade = ['Connection', 'Upgrade', 'Upgrade', 'websocket', 'Sec-WebSocket-Version', '13', 'Sec-WebSocket-Key', 'x'];
    expect(await refusal('/v1/messages', { headers: upgrade })).toMatchObject({ status: 426, code: 'upgrade_required' });
    expect(await refusal('/e/sim/v1/messages', { headers: upgrade })).toMatchObject({ status: 426 });
  });
});

describe('a bad body on a vendor path', () => {
  it.each<[string, string]>([
    ['no JSON', 'hello'],
    ['half of JSON', GOOD.slice(0, -5)],
    ['a list', '[1]'],
    ['a repeated key', '{"model":"a","model":"b"}'],
    ['nothing', ''],
    ['JSON that is too deep', `{"model":"a","x":${'['.repeat(5000)}${']'.repeat(5000)}}`],
  ])('is 400 in the caller’s own shape: %s', async (_, body) => {
    expect(await vendor([], body)).toEqual({ status: 400, code: 'invalid_request', shape: 'claude' });
  });

  it.each<[string, string[]]>([
    ['an unknown capability', ['X-ABP-Require', 'telepathy']],
    ['an unknown level', ['X-ABP-Require', 'streaming=always']],
    ['an unknown compatibility', ['X-ABP-Compatibility', 'loose']],
  ])('is 400 for %s in a header', async (_, headers) => {
    expect(await vendor(headers)).toEqual({ status: 400, code: 'invalid_request', shape: 'claude' });
  });

  it('that is not what its encoding says, is 400, and a bomb is 413', async () => {
    expect(await vendor(['Content-Encoding', 'gzip'])).toMatchObject({ status: 400 });
    expect(await vendor(['Content-Encoding', 'rot13'])).toMatchObject({ status: 400 });
    const bomb = gzipSync(Buffer.alloc(80 * 1024 * 1024, ' '));
    expect(await vendor(['Content-Encoding', 'gzip'], bomb)).toMatchObject({ status: 413 });
  });

  it('that is too large is 413, announced or not', async () => {
    const large = Buffer.alloc(1024 * 1024 + 1, ' ');
    expect(await vendor([], large)).toEqual({ status: 413, code: 'payload_too_large', shape: 'claude' });
    expect(await vendor(['Transfer-Encoding', 'chunked'], large)).toMatchObject({ status: 413 });
  });

  it('that would fill the memory is 503', async () => {
    const { hostname, port, host } = new URL(server.url);
    const megabyte = 1024 * 1024;
    const holder = connect(Number(port), hostname);
    holder.write(`POST /e/sim/v1/messages HTTP/1.1\r\nHost: ${host}\r\nContent-Length: ${megabyte}\r\n\r\n${' '.repeat(megabyte - 1)}`);
    await expect.poll(() => server.gateway.calls.budget.held, { timeout: 60_000 }).toBe(megabyte - 1);
    const large = Buffer.alloc(megabyte, ' ');
    expect(await vendor([], large)).toEqual({ status: 503, code: 'overloaded', shape: 'claude' });
    // Somebody else still finds room.
    expect(await vendor(['x-abp-key', server.token], Buffer.alloc(megabyte / 2, ' '))).toMatchObject({ status: 400 });
    holder.destroy();
    await expect.poll(() => server.gateway.calls.budget.held, { timeout: 60_000 }).toBe(0);
  });
});

describe('what is not HTTP', () => {
  it('with too many headers is 431 with a run id', async () => {
    const { host } = new URL(server.url);
    const answer = await rawCall(server.url, `GET / HTTP/1.1\r\nHost: ${host}\r\nX-Long: ${'a'.repeat(70_000)}\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 431 /);
    expect(answer).toMatch(/X-ABP-Run-Id: run_/);
    expect(answer).toContain('"headers_too_large"');
  });

  it.each([
    'garbage\r\n\r\n',
    'GET / HTTP/9.9\r\n\r\n',
    'POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
    '\x16\x03\x01\x02\x00',
  ])('%j is 400 with a run id', async (bytes) => {
    const answer = await rawCall(server.url, bytes);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toMatch(/X-ABP-Run-Id: run_/);
  });
});

it('an expectation that nobody knows is ignored', async () => {
  expect((await call(`${server.url}/healthz`, { headers: ['Expect', 'miracles'] })).status).toBe(200);
});

describe('control routes', () => {
  it('that change something need the token', async () => {
    for (const [method, path] of [
      ['GET', '/v1/keys'],
      ['POST', '/v1/keys'],
      ['DELETE', '/v1/keys/key_1'],
    ] as const) {
      const body = method === 'POST' ? '{"name":"x"}' : '';
      const headers = method === 'POST' ? ['content-type', 'application/json'] : [];
      expect(await refusal(path, { method, headers, body })).toEqual({ status: 403, code: 'forbidden', shape: 'ours' });
      const wrong = [...headers, 'authorization', `Bearer ${server.token.slice(1)}`];
      expect(await refusal(path, { method, headers: wrong, body })).toMatchObject({ status: 403 });
    }
  });

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'text/plain; application/json', ''])(
    'take application/json and not "%s"',
    async (type) => {
      const headers = [...token(), ...(type === '' ? [] : ['content-type', type])];
      expect(await refusal('/v1/keys', { method: 'POST', headers, body: '{"name":"x"}' })).toMatchObject({
        status: 415,
        code: 'unsupported_media_type',
      });
      expect(await refusal('/v1/negotiate', { method: 'POST', headers: headers.slice(2), body: '{}' })).toMatchObject({ status: 415 });
    },
  );

  it.each<[string, unknown]>([
    ['half of JSON', '{"manifest":'],
    ['nothing', '{}'],
    ['a wrong type', { manifest: [], requirements: { required: [] } }],
    ['an unknown field', { manifest: {}, requirements: { required: [] }, extra: 1 }],
    ['an unknown capability', { manifest: {}, requirements: { required: [{ capability: 'telepathy', min_support: 'native' }] } }],
    ['both manifest and backend', { manifest: {}, backend: 'sim', requirements: { required: [] } }],
    ['a poisoned prototype', '{"manifest":{},"requirements":{"required":[]},"__proto__":{"admin":true}}'],
  ])('refuse %s with 400', async (_, body) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const got = await refusal('/v1/negotiate', { method: 'POST', headers: ['content-type', 'application/json'], body: text });
    expect(got).toEqual({ status: 400, code: 'invalid_request', shape: 'ours' });
  });

  it('refuse a body of more than one MiB with 413', async () => {
    const body = JSON.stringify({ pad: 'x'.repeat(1024 * 1024) });
    const got = await refusal('/v1/negotiate', { method: 'POST', headers: ['content-type', 'application/json'], body });
    expect(got).toMatchObject({ status: 413, code: 'payload_too_large' });
  });
});

it('garbage behind a request does not land inside its answer', async () => {
  const other = await startGateway();
  const { hostname, port, host } = new URL(other.url);
  const body = JSON.stringify({
    model: 'm',
    max_tokens: 100,
    stream: true,
    messages: [{ role: 'user', content: 'wait 20 ms between words and say "a b c d e f"' }],
  });
  const socket = connect(Number(port), hostname);
  const chunks: Buffer[] = [];
  socket.on('data', (data) => chunks.push(data));
  socket.on('error', () => undefined);
  socket.write(`POST /e/sim/v1/messages HTTP/1.1\r\nHost: ${host}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  await once(socket, 'data');
  socket.write('\x00\x01garbage\r\n\r\n');
  await once(socket, 'close');
  expect(
    Buffer.concat(chunks)
      .toString()
      .match(/HTTP\/1\.1/g),
  ).toHaveLength(1);
  await other.close();
});

it('an error inside the server is logged, and the caller learns nothing of it but the run id', async () => {
  const other = await startGateway();
  await other.gateway.store.close();
  const answer = await call(`${other.url}/v1/receipts`);
  expect(answer.status).toBe(500);
  const { error } = JSON.parse(answer.body.toString());
  expect(error.message).toBe('Something went wrong inside the backplane.');
  expect(other.logs()).toContain(String(answer.headers['x-abp-run-id']));
  expect(other.logs()).toMatch(/"error":\{"type":"\w+","message":".+","stack":/);
  const ready = await call(`${other.url}/readyz`);
  expect(ready.status).toBe(503);
  expect(JSON.parse(ready.body.toString())).toEqual({ status: 'degraded', database: 'unreachable', journal: 'ok', chain: 'ok' });
  await other.close();
});

it('the answers of a healthy caller between all this are right', async () => {
  const other = await startGateway();
  const response = await send(`${other.url}/e/sim/v1/messages`, { method: 'POST', body: GOOD });
  expect(response.statusCode).toBe(200);
  response.resume();
  expect((await post(`${other.url}/v1/negotiate`, { backend: 'engine:sim', requirements: { required: [] } })).status).toBe(200);
  await other.close();
});
