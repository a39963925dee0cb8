import { createHash } from 'node:crypto';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { listReceipts } from '../../src/store/receipts/receipts.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { noReceipts } from '../support/no-receipts.ts';

const STREAMS = 250;
const CHUNKS = 12;

/** Bytes that depend on the request, cut where events are not. */
function chunksFor(seed: string): Buffer[] {
  const words = Array.from({ length: 40 }, (_, at) => createHash('sha256').update(`${seed} ${at}`).digest('base64'));
  const delta = (text: string): string => JSON.stringify({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } });
  const events = words.map((word) => `event: content_block_delta\ndata: ${delta(`${word} ü €`)}\n\n`).join('');
  const bytes = Buffer.from(`${events}event: message_stop\ndata: {"type":"message_stop"}\n\n`);
  const size = Math.ceil(bytes.length / CHUNKS);
  return Array.from({ length: CHUNKS }, (_, at) => bytes.subarray(at * size, (at + 1) * size));
}

/** An engine whose chunks come one by one. */
const engine = http.createServer(async (request, response) => {
  const seed = Buffer.concat(await Array.fromAsync(request)).toString();
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const chunk of chunksFor(seed)) {
    response.write(chunk);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  response.end();
});

let [on, off]: TestGateway[] = [];
beforeAll(async () => {
  await new Promise<void>((resolve) => engine.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, resolve));
  const { port } = engine.address() as AddressInfo; // a TCP server that listens
  const engines = { claude: { url: `http://127.0.0.1:${port}` } };
  [on, off] = [await startGateway({ engines }), await startGateway({ engines, keep: noReceipts })];
});
afterAll(async () => {
  await on?.close();
  await off?.close();
  engine.closeAllConnections();
  engine.close();
});

const bodyOf = (at: number): string => JSON.stringify({ model: 'claude-sonnet-4-5', max_tokens: 9, stream: true, messages: [{ at }] });

/** SHA-256 of what a caller got, with its status. */
async function stream(url: string, at: number): Promise<string> {
  const headers = { 'content-type': 'application/json', 'x-api-key': 'sk-test' };
  const request = http.request(`${url}/e/claude/v1/messages`, { method: 'POST', headers, agent: false });
  request.end(bodyOf(at));
  const response = await new Promise<http.IncomingMessage>((resolve, reject) => request.once('response', resolve).once('error', reject));
  const hash = createHash('sha256');
  for await (const chunk of response) hash.update(chunk);
  return `${response.statusCode} ${hash.digest('hex')}`;
}

async function streams(server: TestGateway | undefined): Promise<string[]> {
  return await Promise.all(Array.from({ length: STREAMS }, (_, at) => stream(server?.url ?? '', at)));
}

it(`${STREAMS} streams at once deliver the same bytes with receipts and without`, { timeout: 120_000 }, async () => {
  const sent = Array.from({ length: STREAMS }, (_, at) => {
    const hash = createHash('sha256');
    for (const chunk of chunksFor(bodyOf(at))) hash.update(chunk);
    return `200 ${hash.digest('hex')}`;
  });
  expect(await streams(on)).toEqual(sent);
  expect(await streams(off)).toEqual(sent);
  await on?.gateway.keeper.settled();
  const stored = async (server: TestGateway | undefined): Promise<number> =>
    server === undefined ? -1 : (await listReceipts(server.gateway.store, { limit: 1000, status: 'completed' })).items.length;
  expect([await stored(on), await stored(off)]).toEqual([STREAMS, 0]);
});
