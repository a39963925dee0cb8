import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { certificateFiles } from '../support/certificates.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { call, send } from '../support/http-call.ts';

const LIMIT = 16;
/** A caller may hold three times what is left. */
const SHARE = 12;

async function start(engine?: string): Promise<TestGateway> {
  const engines = engine === undefined ? {} : { openai: { url: engine, key: 'sk-engine-key-0001' } };
  const gateway = await startGateway({ engines, config: { limits: { connections: LIMIT } } });
  onTestFinished(gateway.close);
  return gateway;
}

async function keyOf({ url, token }: TestGateway): Promise<string> {
  const headers = ['authorization', `Bearer ${token}`, 'content-type', 'application/json'];
  const body = JSON.stringify({ name: 'one', scopes: { planes: ['gateway', 'run'], raw: true } });
  const { status, body: made } = await call(`${url}/v1/keys`, { method: 'POST', headers, body });
  expect(status).toBe(201);
  return JSON.parse(String(made)).secret;
}

/** A stream of events that nobody reads. */
async function stream({ url }: TestGateway, key: string): Promise<http.IncomingMessage> {
  const response = await send(`${url}/v1/receipts/stream`, { headers: ['authorization', `Bearer ${key}`] });
  onTestFinished(() => void response.destroy());
  return response;
}

const known = ({ url }: TestGateway, key: string): Promise<number> =>
  call(`${url}/v1/receipts?limit=1`, { headers: ['authorization', `Bearer ${key}`, 'connection', 'close'] }).then(({ status }) => status);

test('a caller who opens streams of events until it gets no more leaves connections to others, and is told to try again', async () => {
  const gateway = await start();
  const [greedy, other] = [await keyOf(gateway), await keyOf(gateway)];
  const open: http.IncomingMessage[] = [];
  let refused: http.IncomingMessage | undefined;
  while (refused === undefined && open.length < LIMIT) {
    const response = await stream(gateway, greedy);
    if (response.statusCode === 200) open.push(response);
    else refused = response;
  }
  expect(open).toHaveLength(SHARE);
  expect(refused?.statusCode).toBe(503);
  expect(refused?.headers).toMatchObject({ 'x-should-retry': 'true', connection: 'close' });
  expect(await known(gateway, other)).toBe(200);
  expect((await stream(gateway, other)).statusCode).toBe(200);
  for (const one of open) one.destroy();
  await expect.poll(() => known(gateway, greedy)).toBe(200);
});

test('connections that say nothing make room for those who do', async () => {
  const gateway = await start();
  const key = await keyOf(gateway);
  const { port, hostname } = new URL(gateway.url);
  const silent: Socket[] = [];
  let closed = 0;
  for (let number = 0; number < 3 * LIMIT; number += 1) {
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    socket.once('close', () => {
      closed += 1;
    });
    onTestFinished(() => void socket.destroy());
    silent.push(socket);
    await once(socket, 'connect');
  }
  expect(await known(gateway, key)).toBe(200);
  await expect.poll(() => closed).toBeGreaterThanOrEqual(2 * LIMIT);
  // The last ones are still there.
  expect(silent.at(-1)?.destroyed).toBe(false);
});

test('WebSockets count like every other connection', async () => {
  const engine = http.createServer();
  engine.on('upgrade', (_request, socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: abc\r\n\r\n');
    socket.on('error', () => socket.destroy());
    onTestFinished(() => void socket.destroy());
  });
  await new Promise<void>((resolve) => engine.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void engine.close());
  const gateway = await start(`http://127.0.0.1:${(engine.address() as AddressInfo).port}`); // a listening TCP server has one
  const [greedy, other] = [await keyOf(gateway), await keyOf(gateway)];
  const { host, port, hostname } = new URL(gateway.url);
  const statuses: string[] = [];
  for (let number = 0; number < SHARE + 1; number += 1) {
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    onTestFinished(() => void socket.destroy());
    const lines = [
      'GET /e/openai/v1/realtime HTTP/1.1',
      `Host: ${host}`,
      `X-ABP-Key: ${greedy}`,
      'Connection: Upgrade',
      'Upgrade: websocket',
    ];
    socket.write(`${[...lines, 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='].join('\r\n')}\r\n\r\n`);
    const [first] = await once(socket, 'data');
    statuses.push(String(first).slice(9, 12));
  }
  expect(statuses).toEqual([...Array.from({ length: SHARE }, () => '101'), '503']);
  expect(await known(gateway, other)).toBe(200);
});

test('under TLS a caller has its share as well, and connections that say nothing make room', async () => {
  const gateway = await startGateway({ config: { server: certificateFiles(), limits: { connections: LIMIT } } });
  onTestFinished(gateway.close);
  const { hostname, port } = new URL(gateway.url);
  const ask = (path: string, key: string): Promise<http.IncomingMessage> =>
    new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
      const options = { hostname, port, path, headers, agent: false, rejectUnauthorized: false };
      const request = https.request({ ...options, method: path === '/v1/keys' ? 'POST' : 'GET' }, resolve);
      request.on('error', reject);
      request.end(path === '/v1/keys' ? JSON.stringify({ name: 'one', scopes: { planes: ['gateway', 'run'] } }) : undefined);
      onTestFinished(() => void request.destroy());
    });
  const made = async (): Promise<string> => {
    const response = await ask('/v1/keys', gateway.token);
    let text = '';
    for await (const chunk of response) text += String(chunk);
    return JSON.parse(text).secret;
  };
  const [greedy, other] = [await made(), await made()];
  const statuses: (number | undefined)[] = [];
  for (let number = 0; number < SHARE + 1; number += 1) statuses.push((await ask('/v1/receipts/stream', greedy)).statusCode);
  expect(statuses).toEqual([...Array.from({ length: SHARE }, () => 200), 503]);
  // Half of a handshake, and connections that never begin one.
  const silent = Array.from({ length: 2 * LIMIT }, () => connect(Number(port), hostname).on('error', () => undefined));
  onTestFinished(() => silent.forEach((socket) => void socket.destroy()));
  silent[0]?.write(Buffer.from([0x16, 0x03, 0x01, 0x02]));
  expect((await ask('/v1/receipts/stream', other)).statusCode).toBe(200);
  expect((await ask('/v1/receipts?limit=1', other)).statusCode).toBe(200);
});
