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

const ANSWERS: Readonly<Record<string, (response: ServerResponse) => void>> = {
  endless: (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const more = (): void => {
      while (!response.destroyed && response.write(Buffer.alloc(1024 * 1024, ' ')));
    };
    response.on('drain', more);
    more();
  },
  'endless error': (response) => {
    response.writeHead(500, { 'content-type': 'application/json' });
    response.end(Buffer.alloc(3 * 1024 * 1024, 'x'));
  },
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
  server = await startGateway({ engines: { openai: { url: `http://127.0.0.1:${port}`, key: 'sk-test', timeout_s: 2 } } });
});

afterAll(async () => {
  clearInterval(dripping);
  await server.close();
  upstream.closeAllConnections();
  upstream.close();
});

const ask = (what: string): ReturnType<typeof post> =>
  post(`${server.url}/e/openai/v1/messages`, { model: 'gpt-5', max_tokens: 5, messages: [{ role: 'user', content: `what: ${what}` }] });

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

it('an error without end is cut', async () => {
  const answer = await ask('endless error');
  expect(answer.status).toBe(500);
  expect(answer.body.length).toBeLessThan(300 * 1024);
  expect(server.gateway.calls.budget.held).toBe(0);
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
