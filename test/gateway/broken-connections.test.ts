import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { call, post, send } from '../support/http-call.ts';
import { receiptOf } from '../support/receipt-of.ts';
import { chunk, chunkedHead, lastChunk, type RecordingUpstream, startUpstream, whole } from '../support/recording-upstream.ts';

let server: TestGateway;
let upstream: RecordingUpstream;
let url: string;

beforeAll(async () => {
  upstream = await startUpstream();
  server = await startGateway({
    engines: {
      claude: { url: upstream.url, timeout_s: 1 },
      // Nothing listens on port 1.
      sim: {},
    },
  });
  url = `${server.url}/v1/messages`;
});
afterAll(async () => {
  await server.close();
  await upstream.close();
});

const BODY = '{"model":"m","stream":true}';
const EVENT = 'event: ping\ndata: {"type":"ping"}\n\n';

describe('an engine that breaks off', () => {
  it.each([
    ['in a chunked answer', () => chunkedHead() + chunk(EVENT).toString()],
    ['in an answer with a length', () => `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"a":`],
    ['in a chunk', () => `${chunkedHead()}ff\r\ndata: half`],
  ])('%s gives the caller a broken connection, not an end', async (_, bytes) => {
    upstream.answer((socket) => {
      socket.write(bytes());
      setTimeout(() => socket.destroy(), 20);
    });
    const answer = await post(url, BODY);
    expect(answer).toMatchObject({ status: 200, complete: false });
    expect(await receiptOf(server.url, answer.headers['x-abp-run-id'])).toMatchObject({
      status: 'failed',
      reason: 'broken',
      error: { code: 'engine_failed' },
      response: { status: 200, bytes: answer.body.length },
    });
  });

  it('right behind what it said still has that delivered, as the receipt says', async () => {
    const answer = await post(
      `${server.url}/e/sim/v1/messages`,
      JSON.stringify({
        model: 'm',
        max_tokens: 50,
        stream: true,
        messages: [{ role: 'user', content: 'say "one two" and cut the stream' }],
      }),
    );
    expect(answer).toMatchObject({ status: 200, complete: false });
    const events = answer.body.toString().split('\n\n').slice(0, -1);
    expect(events[0]).toMatch(/^event: message_start\n/);
    expect(await receiptOf(server.url, answer.headers['x-abp-run-id'])).toMatchObject({
      status: 'failed',
      reason: 'broken',
      event_count: events.length,
      response: { bytes: answer.body.length },
    });
  });

  it('before it answers gives the caller 502 in its own shape', async () => {
    upstream.answer((socket) => void socket.destroy());
    const answer = await post(url, BODY);
    expect(answer.status).toBe(502);
    expect(JSON.parse(answer.body.toString())).toMatchObject({ type: 'error', error: { code: 'engine_failed', retryable: true } });
    expect(await receiptOf(server.url, answer.headers['x-abp-run-id'])).toMatchObject({ status: 'failed', response: null });
  });

  it('by talking nonsense gives the caller 502', async () => {
    upstream.answer((socket) => void socket.end('SSH-2.0-OpenSSH_9\r\n'));
    expect((await post(url, BODY)).status).toBe(502);
  });

  it('by staying silent gives the caller 504, and a broken connection in mid-stream', async () => {
    upstream.answer(() => undefined);
    const silent = await post(url, BODY);
    expect(silent.status).toBe(504);
    upstream.answer((socket) => void socket.write(chunkedHead() + chunk(EVENT).toString()));
    const stuck = await post(url, BODY);
    expect(stuck).toMatchObject({ status: 200, complete: false });
    expect(await receiptOf(server.url, stuck.headers['x-abp-run-id'])).toMatchObject({ status: 'failed', reason: 'timeout' });
  });
});

it('an engine that cannot be reached is E007 with a receipt', async () => {
  const other = await startGateway({ engines: { claude: { url: 'http://127.0.0.1:1' } } });
  const answer = await post(`${other.url}/v1/messages`, BODY);
  expect(answer.status).toBe(503);
  expect(answer.headers['x-should-retry']).toBe('true');
  expect(JSON.parse(answer.body.toString())).toMatchObject({
    type: 'error',
    error: { code: 'E007', details: { backend_id: 'engine:claude' } },
  });
  expect(await receiptOf(other.url, answer.headers['x-abp-run-id'])).toMatchObject({
    status: 'failed',
    error: { code: 'E007' },
    engine: 'claude',
    attempts: [{ engine: 'claude', status: null }],
  });
  await other.close();
});

it('more calls than the engine may have at once are refused with 503, not queued', async () => {
  const other = await startGateway({ engines: { claude: { url: upstream.url, max_connections: 1 } } });
  upstream.answer((socket) => void socket.write(chunkedHead() + chunk(EVENT).toString()));
  const first = await send(`${other.url}/v1/messages`, { method: 'POST', body: BODY });
  const second = await post(`${other.url}/v1/messages`, BODY);
  expect(second.status).toBe(503);
  expect(JSON.parse(second.body.toString())).toMatchObject({ error: { code: 'overloaded', retryable: true } });
  first.destroy();
  upstream.answer((socket) => void socket.write(whole('{}')));
  await expect.poll(async () => (await post(`${other.url}/v1/messages`, BODY)).status, { timeout: 60_000 }).toBe(200);
  await other.close();
});

describe('a caller that goes away', () => {
  it('in mid-stream closes the engine’s connection too, and the receipt says so', async () => {
    upstream.answer((socket) => void socket.write(chunkedHead() + chunk(EVENT).toString()));
    const response = await send(url, { method: 'POST', body: BODY });
    const run = response.headers['x-abp-run-id'];
    await once(response, 'data');
    const socket = upstream.sockets.at(-1)!;
    const closed = once(socket, 'close');
    response.destroy();
    await closed;
    expect(await receiptOf(server.url, run)).toMatchObject({
      status: 'cancelled',
      reason: 'client_closed',
      response: { status: 200, bytes: EVENT.length },
      event_count: 1,
      error: null,
    });
  });

  it('before the engine answers closes the engine’s connection too', async () => {
    const asked = Promise.withResolvers<void>();
    upstream.answer(() => asked.resolve());
    const { hostname, port } = new URL(url);
    const client = connect(Number(port), hostname);
    client.write(`POST /v1/messages HTTP/1.1\r\nHost: ${hostname}:${port}\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`);
    await asked.promise;
    const closed = once(upstream.sockets.at(-1)!, 'close');
    client.destroy();
    await closed;
    const newest = async (): Promise<object[]> => JSON.parse((await call(`${server.url}/v1/receipts?limit=1`)).body.toString()).items;
    await expect.poll(newest, { timeout: 60_000 }).toMatchObject([{ status: 'cancelled', reason: 'client_closed', response: null }]);
  });

  it('before its body is whole reaches no engine and holds no memory', async () => {
    const before = upstream.requests.length;
    const { hostname, port } = new URL(url);
    const client = connect(Number(port), hostname);
    client.write(`POST /v1/messages HTTP/1.1\r\nHost: ${hostname}:${port}\r\nContent-Length: 1000\r\n\r\n{"model":`);
    await expect.poll(() => server.gateway.calls.budget.held, { timeout: 60_000 }).toBe(9);
    client.destroy();
    await expect.poll(() => server.gateway.calls.budget.held, { timeout: 60_000 }).toBe(0);
    expect(upstream.requests.length).toBe(before);
  });
});

describe('a caller that reads slowly', () => {
  it('pauses the engine: what is held in between is bounded, and nothing is lost', async () => {
    const total = 64 * 1024 * 1024;
    const piece = Buffer.alloc(64 * 1024, 'x');
    let sent = 0;
    upstream.answer(async (socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-type: application/octet-stream\r\ncontent-length: ${total}\r\n\r\n`);
      while (sent < total) {
        sent += piece.length;
        if (!socket.write(piece)) await once(socket, 'drain');
      }
    });
    const slow = await startGateway({ engines: { claude: { url: upstream.url } } });
    const response = await send(`${slow.url}/v1/messages`, { method: 'POST', body: BODY });
    let before = -1;
    // Kernel buffers fill until nothing moves any more.
    await expect
      .poll(
        () => {
          const still = sent === before;
          before = sent;
          return still && sent > 0;
        },
        { interval: 150 },
      )
      .toBe(true);
    expect(sent).toBeLessThan(total / 2);
    let bytes = 0;
    for await (const data of response) bytes += data.length;
    expect(bytes).toBe(total);
    await slow.close();
  });
});

it('a kept-alive connection to the engine is used again', async () => {
  upstream.answer((socket) => void socket.write(chunkedHead() + chunk(EVENT).toString() + lastChunk()));
  await post(url, BODY);
  await post(url, BODY);
  const [first, second] = upstream.requests.slice(-2);
  expect(second?.connection).toBe(first?.connection);
});

it('a kept-alive connection that died when it was used again is replaced once', async () => {
  upstream.answer((socket) => void socket.write(whole('{}')));
  await post(url, BODY);
  const old = upstream.requests.at(-1)?.connection;
  upstream.answer((socket, request) => void (request.connection === old ? socket.destroy() : socket.write(whole('{"again":1}'))));
  const answer = await post(url, BODY);
  expect(answer.status).toBe(200);
  expect(answer.body.toString()).toBe('{"again":1}');
  const receipt = await receiptOf(server.url, answer.headers['x-abp-run-id']);
  expect(receipt.status).toBe('completed');
});

it('nothing of all this was a fault of the server', () => {
  expect(server.faults()).toBe('');
  expect(server.gateway.calls.budget.held).toBe(0);
});
