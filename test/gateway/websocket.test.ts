import http from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { receiptOf } from '../support/receipt-of.ts';

/** An engine that agrees to every WebSocket under /v1/realtime and returns what it gets, in capitals. */
async function echoEngine(): Promise<{ url: string; seen: http.IncomingMessage[] }> {
  const seen: http.IncomingMessage[] = [];
  const server = http.createServer((_request, response) => response.writeHead(404).end());
  server.on('upgrade', (request, socket) => {
    seen.push(request);
    if (!request.url?.startsWith('/v1/realtime')) {
      socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n');
      return;
    }
    socket.write(
      'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: abc\r\nset-cookie: a=b\r\n\r\n',
    );
    socket.on('data', (chunk: Buffer) => socket.write(String(chunk).toUpperCase()));
    socket.on('end', () => socket.end());
    socket.on('error', () => socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen }; // a listening TCP server has one
}

async function start(url: string): Promise<TestGateway> {
  const gateway = await startGateway({ engines: { openai: { url, key: 'sk-engine-key-0001' } } });
  onTestFinished(gateway.close);
  return gateway;
}

/** Asks for a WebSocket and collects what comes. */
function ask(
  gateway: TestGateway,
  path: string,
  headers: readonly string[] = [],
): { socket: Socket; until(text: string): Promise<string> } {
  const { host, port, hostname } = new URL(gateway.url);
  const socket = connect(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  let got = '';
  socket.on('data', (chunk) => {
    got += String(chunk);
  });
  const lines = [`GET ${path} HTTP/1.1`, `Host: ${host}`, 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'];
  socket.write(`${[...lines, 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==', ...headers].join('\r\n')}\r\n\r\n`);
  const until = (text: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (got.includes(text)) resolve(got);
      };
      socket.on('data', look);
      socket.once('close', () => reject(new Error(`closed before "${text}": ${got}`)));
      look();
    });
  return { socket, until };
}

test('a WebSocket under /e/{engine}/ is joined with one to the engine, with its key, and leaves a receipt', async () => {
  const engine = await echoEngine();
  const gateway = await start(engine.url);
  const call = ask(gateway, '/e/openai/v1/realtime?model=m', ['X-ABP-Key: abp_of_nobody']);
  const refused = await call.until('401');
  expect(refused).toContain('X-ABP-Run-Id: run_');
  const open = ask(gateway, '/e/openai/v1/realtime?model=m', ['OpenAI-Beta: realtime=v1']);
  const head = await open.until('\r\n\r\n');
  expect(head).toMatch(
    /^HTTP\/1\.1 101 Switching Protocols\r\nSec-WebSocket-Accept: abc\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nX-ABP-Run-Id: run_[0-9a-f]{32}\r\n/,
  );
  expect(head).not.toContain('set-cookie');
  open.socket.write('ping of the caller');
  await open.until('PING OF THE CALLER');
  expect(engine.seen.at(-1)?.headers).toMatchObject({ authorization: 'Bearer sk-engine-key-0001', 'openai-beta': 'realtime=v1' });
  expect(engine.seen.at(-1)?.url).toBe('/v1/realtime?model=m');
  open.socket.end();
  const receipt = await receiptOf(gateway.url, /run_[0-9a-f]{32}/.exec(head)?.[0]);
  expect(receipt).toMatchObject({ status: 'completed', task: 'GET /v1/realtime → openai', response: { status: 101, bytes: 18 } });
});

test('what an engine answers instead of a WebSocket reaches the caller, with a run id and a failed receipt', async () => {
  const gateway = await start((await echoEngine()).url);
  const answer = await ask(gateway, '/e/openai/v1/other').until('\r\n\r\n');
  expect(answer).toMatch(/^HTTP\/1\.1 403 Forbidden\r\n/);
  const receipt = await receiptOf(gateway.url, /run_[0-9a-f]{32}/.exec(answer)?.[0]);
  expect(receipt).toMatchObject({ status: 'failed', engine: 'openai' });
});

test('a WebSocket on a path of a dialect is refused with 426 at once', async () => {
  const gateway = await start((await echoEngine()).url);
  expect(await ask(gateway, '/e/openai/v1/responses').until('}')).toMatch(/^HTTP\/1\.1 426 /);
});

test('a page of another origin cannot open a WebSocket through us', async () => {
  const engine = await echoEngine();
  const gateway = await start(engine.url);
  expect(await ask(gateway, '/e/openai/v1/realtime', ['Origin: https://evil.example']).until('}')).toMatch(/^HTTP\/1\.1 403 /);
  expect(engine.seen).toEqual([]);
});

test('an offer of HTTP/2 on a plain request is ignored and the request is served', async () => {
  const gateway = await start((await echoEngine()).url);
  const { status } = await new Promise<{ status: number | undefined }>((resolve, reject) => {
    const headers = { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'content-type': 'application/json' };
    const request = http.request(`${gateway.url}/e/sim/v1/messages`, { method: 'POST', headers }, (response) => {
      response.resume();
      resolve({ status: response.statusCode });
    });
    request.once('error', reject);
    request.end(JSON.stringify({ model: 'm', max_tokens: 20, messages: [{ role: 'user', content: 'hi' }] }));
  });
  expect(status).toBe(200);
});

test('a caller who hangs up ends the call, also where the engine says and hears nothing any more', async () => {
  const sockets: Socket[] = [];
  const server = http.createServer();
  server.on('upgrade', (_request, socket) => {
    sockets.push(socket as Socket); // HTTP servers of Node hand out TCP sockets
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: abc\r\n\r\n');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const gateway = await start(`http://127.0.0.1:${(server.address() as AddressInfo).port}`); // a listening TCP server has one
  const { socket, until } = ask(gateway, '/e/openai/v1/realtime');
  const run = /x-abp-run-id: (\S+)/i.exec(await until('101'))?.[1];
  socket.end();
  expect(await receiptOf(gateway.url, run)).toMatchObject({ status: 'completed' });
  expect(gateway.gateway.calls.live.hasCallsOf('nobody')).toBe(false);
  for (const one of sockets) one.destroy();
});
