import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { post } from '../support/http-call.ts';

/** An engine that answers by the words of the request's last part. */
let upstream: Server;
let server: TestGateway;
const BOMB = gzipSync(Buffer.alloc(80 * 1024 * 1024, ' '));
const open = new Set<ServerResponse>();
let dripping: NodeJS.Timeout | undefined;

/** Sends as long as somebody takes it. */
function pour(response: ServerResponse, byte: string): void {
  const more = (): void => {
    while (!response.destroyed && response.write(Buffer.alloc(1024 * 1024, byte)));
  };
  response.on('drain', more);
  more();
}

const ANSWERS: Readonly<Record<string, (response: ServerResponse) => void>> = {
  endless: (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    pour(response, ' ');
  },
  'endless error': (response) => {
    response.writeHead(500, { 'content-type': 'application/json' });
    pour(response, 'x');
  },
  'endless compressed error': (response) => {
    response.writeHead(500, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
    pour(response, 'x');
  },
  elsewhere: (response) => response.writeHead(307, { location: 'http://127.0.0.1:9/v1/messages' }).end(),
  bomb: (response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
    response.end(BOMB);
  },
  drip: (response) => {
    const { socket } = response;
    socket?.write('HTTP/1.1 200 OK\r\n');
    dripping = setInterval(() => socket?.write('x-a: b\r\n'), 50);
  },
};

beforeAll(async () => {
  upstream = createServer((request, response) => {
    open.add(response);
    response.once('close', () => open.delete(response));
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const asked = /what: ([a-z ]+)/.exec(Buffer.concat(chunks).toString())?.[1] ?? '';
      ANSWERS[asked]?.(response);
    });
  });
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  const { port } = upstream.address() as AddressInfo;
  server = await startGateway({
    engines: { openai: { url: `http://127.0.0.1:${port}`, key: 'sk-test-0123456789abcdef0123', timeout_s: 2 } },
  });
});

afterAll(async () => {
  clearInterval(dripping);
  await server.close();
  upstream.closeAllConnections();
  upstream.close();
});

const ask = (what: string, more = {}): ReturnType<typeof post> =>
  post(`${server.url}/e/openai/v1/messages`, {
    model: 'gpt-5',
    max_tokens: 5,
    messages: [{ role: 'user', content: `what: ${what}` }],
    ...more,
  });

it.each([
  ['endless', 502, 'longer than 64 MiB'],
  ['bomb', 502, 'larger than 64 MiB'],
  ['drip', 504, 'in time'],
])('an answer that is %s is given up with %s, and its connection is closed', async (what, status, words) => {
  const answer = await ask(what);
  expect([answer.status, answer.body.toString()]).toEqual([status, expect.stringContaining(words)]);
  clearInterval(dripping);
  await expect.poll(() => open.size).toBe(0);
  expect(server.gateway.calls.budget.held).toBe(0);
});

it.each([
  ['endless error', false],
  ['endless error', true],
  ['endless compressed error', false],
])('an %s is cut, streamed: %s', async (what, stream) => {
  const answer = await ask(what, { stream });
  expect(answer.status).toBe(500);
  expect(answer.body.length).toBeLessThan(300 * 1024);
  await expect.poll(() => open.size).toBe(0);
  expect(server.gateway.calls.budget.held).toBe(0);
});

it.each([false, true])('a redirect of an engine is an error that says what to set, streamed: %s', async (stream) => {
  const answer = await ask('elsewhere', { stream });
  expect([answer.status, answer.body.toString()]).toEqual([
    502,
    expect.stringContaining('OpenAI answered 307, a redirect, which is not followed'),
  ]);
});

it('a refused request whose body goes on is answered, and the connection is closed', async () => {
  const { hostname, port, host } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  let answered = '';
  socket.on('data', (data) => {
    answered += data.toString('latin1');
  });
  // A reset is as good as an end.
  socket.on('error', () => undefined);
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.write(`POST /e/openai/v1/messages HTTP/1.1\r\nHost: ${host}\r\nX-ABP-Key: abp_unknown\r\nTransfer-Encoding: chunked\r\n\r\n`);
  const sending = setInterval(() => socket.write('1\r\n \r\n'), 20);
  await closed;
  clearInterval(sending);
  expect(answered).toMatch(/^HTTP\/1\.1 401 [\s\S]*connection: close/i);
});
