import { afterAll, beforeAll, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { receiptOf } from '../support/receipt-of.ts';
import { type RecordingUpstream, startUpstream, whole } from '../support/recording-upstream.ts';
import { FREE, METERED, type MeteredPath } from './metered-paths.ts';

let upstream: RecordingUpstream;
let server: TestGateway;
beforeAll(async () => {
  upstream = await startUpstream();
  const engine = { url: upstream.url, key: 'k' };
  server = await startGateway({ engines: { openai: engine, mistral: engine, gemini: engine, claude: engine } });
});
afterAll(async () => {
  await server.close();
  await upstream.close();
});

function answer(body: string | object, type = 'application/json'): void {
  upstream.answer((socket) => {
    socket.write(whole(typeof body === 'string' ? body : JSON.stringify(body), { headers: [`content-type: ${type}`] }));
  });
}

function bodyOf(asks: MeteredPath['asks']): { body?: FormData | string; headers?: Record<string, string> } {
  if (asks === undefined) return {};
  if (!('form' in asks) || !Array.isArray(asks.form))
    return { body: JSON.stringify(asks), headers: { 'content-type': 'application/json' } };
  const form = new FormData();
  for (const [name, value] of asks.form) {
    if (typeof value === 'string') form.set(name, value);
    else form.set(name, new Blob([value]), 'file.bin');
  }
  return { body: form };
}

async function receiptOfCall(engine: string, path: string, init: RequestInit) {
  const response = await fetch(`${server.url}/e/${engine}${path}`, init);
  await response.arrayBuffer();
  return await receiptOf(server.url, response.headers.get('x-abp-run-id') ?? '');
}

it.each(METERED)(
  '$engine $path is counted and priced: $usage, $nanoUsd',
  async ({ engine, path, asks, answers, type, usage, nanoUsd, ...one }) => {
    answer(answers, type);
    const receipt = await receiptOfCall(engine, path, { method: one.method ?? 'POST', ...bodyOf(asks) });
    expect(receipt.usage).toMatchObject(usage ?? {});
    expect(receipt.cost?.nano_usd ?? null).toBe(nanoUsd);
  },
);

it.each(FREE)('%s %s %s tells no usage', async (engine, method, path, answers) => {
  answer(answers);
  const receipt = await receiptOfCall(engine, path, { method, ...(method === 'POST' ? { body: '{}' } : {}) });
  expect([receipt.status, receipt.usage, receipt.cost]).toEqual(['completed', null, null]);
});

const silent = {
  id: 'c',
  object: 'chat.completion',
  model: 'codestral-latest',
  choices: [{ index: 0, message: { role: 'assistant', content: 'a'.repeat(400) }, finish_reason: 'stop' }],
};

it.each([
  ['in the engine’s own dialect', '/v1/chat/completions', { model: 'codestral-latest', messages: [{ role: 'user', content: 'hi' }] }],
  ['translated', '/v1/messages', { model: 'codestral-latest', max_tokens: 50, messages: [{ role: 'user', content: 'hi' }] }],
])('a whole answer that tells no usage has used something, %s', async (_way, path, body) => {
  answer(silent);
  const { usage, cost } = await receiptOfCall('mistral', path, { method: 'POST', body: JSON.stringify(body) });
  expect(usage?.estimated).toBe(true);
  expect(usage?.input_tokens).toBeGreaterThan(0);
  expect(usage?.output_tokens).toBeGreaterThanOrEqual(100);
  expect(cost?.nano_usd).toBeGreaterThan(0);
});

it('what a path refuses costs nothing', async () => {
  upstream.answer((socket) => {
    socket.write(whole(JSON.stringify({ error: { message: 'no' } }), { status: '400 Bad Request' }));
  });
  const receipt = await receiptOfCall('openai', '/v1/audio/speech', {
    method: 'POST',
    body: JSON.stringify({ model: 'tts-1', input: 'hi' }),
  });
  expect([receipt.status, receipt.usage]).toEqual(['failed', null]);
});

it('the body of a request that is looked at arrives as it was', async () => {
  answer({ text: 'hi', usage: { type: 'duration', seconds: 1 } });
  const bytes = Buffer.concat([
    Buffer.from('--xyz\r\ncontent-disposition: form-data; name="file"; filename="a.wav"\r\n\r\n'),
    Buffer.from('name="model"\r\n\r\nno-model\r\n--xy'),
    Buffer.alloc(200_000, 7),
    Buffer.from('\r\n--xyz\r\nContent-Disposition: form-data; name="model"\r\n\r\nwhisper-1\r\n--xyz--\r\n'),
  ]);
  const receipt = await receiptOfCall('openai', '/v1/audio/transcriptions', {
    method: 'POST',
    headers: { 'content-type': 'multipart/form-data; boundary=xyz' },
    body: bytes,
  });
  expect(upstream.requests.at(-1)?.body.equals(bytes)).toBe(true);
  expect(receipt.model?.upstream).toBe('whisper-1');
});
