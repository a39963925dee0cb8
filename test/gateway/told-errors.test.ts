import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { secretForms } from '../../src/base/redact.ts';
import { workOrder } from '../../src/contract/work-orders/work-order.ts';
import { AgentApi } from '../support/agent-api.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { call, post } from '../support/http-call.ts';
import { callRoute, endedReceipt } from '../work-orders/control-call.ts';

// A server that refuses a key often quotes it. Nobody whom we serve may read ours there, on whichever way the error comes.

const KEY = 'hush-hush/0815+key';
const HEADER = 'account secret of ours';
const QUOTED = [KEY, HEADER].flatMap((secret) => secretForms(secret));
const WORDS = `the key ${QUOTED.join(' | ')} is wrong`;
const ERROR = { error: { message: WORDS, type: KEY, code: 'invalid_api_key', param: HEADER } };

let upstream: Server;
let server: TestGateway;
let api: AgentApi;

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let asked = '';
  for await (const chunk of request) asked += String(chunk);
  if (asked.includes('in gzip'))
    response.writeHead(401, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(gzipSync(JSON.stringify(ERROR)));
  else if (asked.includes('in the stream')) void inStream(response);
  else if (asked.includes('as a whole')) response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(ERROR));
  else if (asked.includes('as you sent it')) {
    const body = JSON.stringify({ error: { code: 400, message: `no such key: ${request.url} ${JSON.stringify(request.headers)}` } });
    response.writeHead(400, { 'content-type': 'application/json' }).end(body);
  } else if (asked.includes('in html')) response.writeHead(502, { 'content-type': 'text/html' }).end(`<h1>${WORDS}</h1>`);
  else {
    const body = JSON.stringify(ERROR);
    response.writeHead(asked.includes('400') ? 400 : 401, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'x-reason': KEY,
    });
    // The key is torn apart.
    const half = body.indexOf(KEY) + 5;
    response.write(body.slice(0, half));
    setTimeout(() => response.end(body.slice(half)), 20);
  }
}

/** A stream that begins well and ends with an error, in pieces of a few bytes. */
async function inStream(response: ServerResponse): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const chunk = {
    id: 'c',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta: { content: 'so' }, finish_reason: null }],
  };
  response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  const bytes = Buffer.from(`data: ${JSON.stringify(ERROR)}\n\n`);
  for (let at = 0; at < bytes.length; at += 40) {
    response.write(bytes.subarray(at, at + 40));
    await new Promise((resolve) => setImmediate(resolve));
  }
  response.end();
}

beforeAll(async () => {
  upstream = createServer((request, response) => void answer(request, response));
  upstream.on('upgrade', (request: IncomingMessage, socket: Duplex) => {
    if (request.url?.includes('refused')) socket.end(`HTTP/1.1 401 No\r\ncontent-length: ${Buffer.byteLength(WORDS)}\r\n\r\n${WORDS}`);
    else socket.end(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n${JSON.stringify(ERROR)}`);
  });
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`; // a TCP server that listens has one
  server = await startGateway({
    engines: { openai: { url, key: KEY, headers: { 'x-account': HEADER } }, gemini: { url } },
    config: { recording: { default: 'full' } },
  });
  api = new AgentApi(server).withToken();
});
afterAll(async () => {
  await server.close();
  upstream.closeAllConnections();
  upstream.close();
});

function quotedIn(text: string): string[] {
  return QUOTED.filter((form) => text.includes(form));
}

const chat = (content: string, more: object = {}): object => ({ model: 'gpt-4o', messages: [{ role: 'user', content }], ...more });
const VENDORS: Readonly<Record<string, (content: string, stream: boolean) => Promise<{ readonly body: Buffer; readonly head?: unknown }>>> =
  {
    relayed: (content, stream) => post(`${server.url}/e/openai/v1/chat/completions`, chat(content, { stream })),
    'mapped for Claude': (content, stream) => post(`${server.url}/e/openai/v1/messages`, chat(content, { max_tokens: 50, stream })),
    'mapped for Gemini': (content, stream) =>
      post(`${server.url}/e/openai/v1beta/models/gpt-4o:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`, {
        contents: [{ role: 'user', parts: [{ text: content }] }],
      }),
    'mapped for Kimi': (content, stream) => post(`${server.url}/e/openai/kimi/v1/chat/completions`, chat(content, { stream })),
  };

describe('an error of an engine that quotes our key', () => {
  it.each(
    Object.keys(VENDORS).flatMap((way) =>
      ['plain', 'in gzip', 'in html', 'as a whole', 'in the stream'].flatMap((how) =>
        [false, true].map((stream) => [how, way, stream] as const),
      ),
    ),
  )('%s is %s without it (streamed: %s)', async (how, way, stream) => {
    const answered = await VENDORS[way]?.(`fail ${how}`, stream);
    expect(quotedIn(`${answered?.body.toString('utf8')}${JSON.stringify(answered)}`)).toEqual([]);
  });

  it('keeps its length, its status and every other word', async () => {
    const { status, body } = await post(`${server.url}/e/openai/v1/chat/completions`, chat('fail'));
    expect([status, body.length]).toEqual([401, Buffer.byteLength(JSON.stringify(ERROR))]);
    expect(JSON.parse(body.toString()).error.code).toBe('invalid_api_key');
  });

  it('on a path that nobody reads is without it', async () => {
    const { status, body, headers } = await call(`${server.url}/e/openai/v1/files`, {});
    expect([status, quotedIn(body.toString()), quotedIn(JSON.stringify(headers))]).toEqual([401, [], []]);
  });

  it.each(['refused', 'agreed'])('on a WebSocket that is %s is without it', async (how) => {
    const { port } = new URL(server.url);
    const socket = connect(Number(port), '127.0.0.1');
    const head = `GET /e/openai/v1/realtime?${how} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n`;
    socket.write(`${head}Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${Buffer.alloc(16).toString('base64')}\r\n\r\n`);
    let told = '';
    socket.on('data', (chunk: Buffer) => {
      told += chunk.toString('latin1');
    });
    await once(socket, 'close');
    expect([told.includes('wrong'), quotedIn(told)]).toEqual([true, []]);
  });

  it('in a turn, as it streams and as it is kept, is without it', async () => {
    const agent = await api.agent({ model: 'openai/gpt-4o' });
    const { body: session } = await api.call('POST', '/v1/sessions', { agent_id: agent });
    await api.call('POST', `/v1/sessions/${session.id}/messages`, { message: { content: 'fail with 400' } });
    await expect.poll(async () => (await api.call('GET', `/v1/sessions/${session.id}`)).body.status).toBe('idle');
    const accept = ['accept', 'application/json', 'authorization', `Bearer ${server.token}`];
    const told = (await call(`${server.url}/v1/sessions/${session.id}/events`, { headers: accept })).body.toString();
    expect([told.includes('wrong'), quotedIn(told)]).toEqual([true, []]);
  });

  it('in a work order, its events and its receipt is without it', async () => {
    const order = workOrder('fail with 400').config({ model: 'gpt-4o' }).build();
    const { body } = await callRoute(server, 'POST', '/v1/work-orders?backend=engine:openai', order);
    const receipt = await endedReceipt(server, String(body.run_id));
    const events = await call(`${server.url}/v1/runs/${String(body.run_id)}/events`, {
      headers: ['authorization', `Bearer ${server.token}`],
    });
    const told = `${JSON.stringify([body, receipt])}${events.body.toString()}`;
    expect([told.includes('wrong'), quotedIn(told)]).toEqual([true, []]);
  });

  it('is in no list and no receipt', async () => {
    const told = await Promise.all(
      ['/v1/receipts', '/v1/runs?view=row', '/v1/backends', '/v1/engines', '/readyz'].map((path) => api.call('GET', path)),
    );
    expect(told.flatMap(({ body }) => quotedIn(JSON.stringify(body)))).toEqual([]);
  });
});

describe('an error of an engine that quotes the key of its caller', () => {
  const OWN = 'c0ffee00112233445566778899aabbcc';
  const question = { contents: [{ role: 'user', parts: [{ text: 'fail as you sent it' }] }] };

  it.each([
    ['x-goog-api-key', '', ['x-goog-api-key', OWN]],
    ['authorization', '', ['authorization', `Bearer ${OWN}`]],
    ['the query', `?key=${OWN}`, []],
  ])('in %s leaves nothing of it in the answer, its receipt and its recording', async (_, query, headers) => {
    const path = `${server.url}/e/gemini/v1beta/models/gemini-2.5-pro:generateContent${query}`;
    const { status, headers: told, body } = await post(path, question, headers);
    expect([status, body.toString()]).toEqual([400, expect.stringContaining('no such key')]);
    const run = String(told['x-abp-run-id']);
    const receipt = await endedReceipt(server, run);
    const recorded = (): ReturnType<typeof api.call> => api.call('GET', `/v1/recordings/${run}`);
    await expect.poll(async () => (await recorded()).status).toBe(200);
    const { body: recording } = await recorded();
    expect(receipt.error).toMatchObject({ message: expect.stringContaining('no such key') });
    expect(`${body.toString()}${JSON.stringify([receipt, recording])}`).not.toContain(OWN);
  });

  it('leaves a short word that stands in for one as it is', async () => {
    const path = `${server.url}/e/gemini/v1beta/models/gemini-2.5-pro:generateContent`;
    const { body } = await post(path, question, ['x-goog-api-key', 'not-needed']);
    expect(body.toString()).toContain('not-needed');
  });
});
