import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { call, rawCall } from '../support/http-call.ts';

let server: TestGateway;
beforeAll(async () => {
  server = await startGateway();
});
afterAll(() => server.close());

const GOOD = '{"from":"claude","to":"sim","request":{"model":"sim-1","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}}';
const JSON_TYPE = ['content-type', 'application/json'];

interface Asked {
  readonly asks: string;
  readonly headers?: readonly string[];
  readonly body?: string;
  readonly status: number;
  readonly says: string;
}

describe('a control path', () => {
  it.each<Asked>([
    { asks: 'GET /v1/backends', status: 200, says: '"engine:claude"' },
    { asks: 'GET /v1/%62ackends?', status: 200, says: '"engine:claude"' },
    { asks: 'GET /V1/backends', status: 404, says: 'There is no path /V1/backends.' },
    { asks: 'GET /v1//backends', status: 404, says: 'There is no path /v1//backends.' },
    { asks: 'GET /v1/nowhere', headers: ['accept', 'text/html'], status: 404, says: 'There is no path /v1/nowhere.' },
    { asks: 'GET /healthz/', status: 404, says: 'There is no path /healthz/.' },
    { asks: 'GET /v1/receipts/%zz', status: 400, says: 'The path holds a broken escape.' },
    { asks: 'PROPFIND /v1/nowhere/%zz', status: 400, says: 'The path holds a broken escape.' },
    { asks: `GET /v1/receipts/${'a'.repeat(101)}`, status: 404, says: 'There is no path' },
    { asks: 'GET /v1/receipts?limit=2&limit=3', status: 400, says: 'query' },
    { asks: 'DELETE /v1/runs', status: 405, says: 'use GET, POST.' },
    { asks: 'PROPFIND /v1/backends', status: 405, says: 'use GET.' },
    { asks: 'POST /v1/explain', headers: JSON_TYPE, body: GOOD, status: 200, says: '"fidelity"' },
    { asks: 'POST /v1/explain', headers: ['content-type', 'Application/JSON; charset=utf-8'], body: GOOD, status: 200, says: '"fidelity"' },
    { asks: 'POST /v1/explain', headers: [...JSON_TYPE, 'transfer-encoding', 'chunked'], body: GOOD, status: 200, says: '"fidelity"' },
    { asks: 'POST /v1/explain', headers: JSON_TYPE, body: '{', status: 400, says: 'The request body is not valid JSON' },
    { asks: 'POST /v1/explain', headers: JSON_TYPE, status: 400, says: 'The request body is not valid JSON' },
    { asks: 'POST /v1/explain', body: GOOD, status: 415, says: 'This path takes application/json.' },
    {
      asks: 'POST /v1/explain',
      headers: ['content-type', 'text/markdown'],
      body: 'x',
      status: 415,
      says: 'This path takes application/json.',
    },
    { asks: 'POST /v1/explain', headers: ['content-type', 'application/jsonx'], body: GOOD, status: 415, says: 'application/json.' },
    { asks: 'POST /v1/negotiate', headers: JSON_TYPE, body: `"${'x'.repeat(1024 * 1024)}"`, status: 413, says: 'larger than 1 MiB' },
    { asks: 'POST /v1/negotiate', headers: JSON_TYPE, body: '['.repeat(200), status: 413, says: 'nested deeper than 100' },
    { asks: 'POST /v1/explain', headers: JSON_TYPE, body: `"${'x'.repeat(1024 * 1024)}"`, status: 400, says: 'not a JSON object' },
    { asks: 'POST /v1/explain', headers: JSON_TYPE, body: '['.repeat(200), status: 400, says: 'not a JSON object' },
    { asks: 'POST /v1/nowhere', headers: ['content-type', 'text/plain'], body: 'x', status: 404, says: 'There is no path' },
    { asks: 'POST /v1/backends', headers: JSON_TYPE, body: '{', status: 405, says: 'use GET.' },
    { asks: 'POST /v1/keys', headers: ['content-type', 'text/plain'], body: 'x', status: 403, says: 'This needs the token' },
  ])('answers $asks with $status: $says', async ({ asks, headers = [], body = '', status, says }) => {
    const [method = '', path = ''] = asks.split(' ');
    const answer = await call(`${server.url}${path}`, { method, headers, body });
    expect([answer.status, answer.body.toString()]).toEqual([status, expect.stringContaining(says)]);
    expect(answer.headers['content-type']).toMatch(/^application\/(problem\+)?json; charset=utf-8$/);
    expect(answer.headers['content-length']).toBe(String(answer.body.length));
    expect(answer.headers['x-abp-run-id']).toMatch(/^run_[0-9a-f]{32}$/);
    expect(server.gateway.calls.budget.held).toBe(0);
  });

  it('answers HEAD like GET without the body, and ends the stream that nobody would read', async () => {
    const whole = await call(`${server.url}/v1/backends`);
    const head = await call(`${server.url}/v1/backends`, { method: 'HEAD' });
    expect([head.status, head.headers['content-length'], head.body.length]).toEqual([200, String(whole.body.length), 0]);
    const stream = await call(`${server.url}/v1/runs/stream`, { method: 'HEAD' });
    expect([stream.status, stream.headers['content-type'], stream.complete]).toEqual([200, 'text/event-stream; charset=utf-8', true]);
  });

  it('keeps a connection for the next request, also after a refusal', async () => {
    const { host } = new URL(server.url);
    const asked = ['/v1/backends', '/v1/nowhere', '/v1/receipts/nobody'].map((path) => `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    const last = `GET /healthz HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
    const answers = await rawCall(server.url, [...asked, last].join(''));
    expect([...answers.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual(['200', '404', '400', '200']);
  });
});

it.each(['/v1/explain', '/e/sim/v1/messages'])('a caller of %s that is refused while it sends a large body reads why', async (path) => {
  const { hostname, port, host } = new URL(server.url);
  const body = Buffer.alloc(65 * 1024 * 1024, 'x');
  for (let round = 0; round < 3; round += 1) {
    const socket = connect(Number(port), hostname);
    const chunks: Buffer[] = [];
    socket.on('data', (data) => chunks.push(data));
    // The rest of the body may find the connection closed; the answer must have come before that.
    socket.on('error', () => undefined);
    socket.write(`POST ${path} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`);
    socket.write(body);
    await new Promise((resolve) => socket.once('close', resolve));
    expect(Buffer.concat(chunks).toString()).toMatch(/^HTTP\/1\.1 413 [\s\S]*larger than/);
  }
});
