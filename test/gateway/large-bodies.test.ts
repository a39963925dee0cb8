import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LARGE_BYTES } from '../../src/calls/large-bodies/large-bodies.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { call, post } from '../support/http-call.ts';
import { mapTo, targetOf } from '../support/mapping.ts';
import { receiptOf } from '../support/receipt-of.ts';
import { type RecordingUpstream, startUpstream, whole } from '../support/recording-upstream.ts';

let upstream: RecordingUpstream;
let server: TestGateway;

beforeAll(async () => {
  upstream = await startUpstream();
  server = await startGateway({
    engines: { claude: { url: upstream.url, key: 'k' }, gemini: { url: upstream.url, key: 'k' } },
    config: { routes: [{ match: 'smart', to: 'claude/real', fallback: ['gemini/backup'] }] as never },
  });
});
afterAll(async () => {
  await server.close();
  await upstream.close();
});

const text = (words: string): string => JSON.stringify({ type: 'text', text: words });

function claudeAnswer(words: string): string {
  return `{"id":"m","type":"message","role":"assistant","model":"x","content":[${text(words)}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}`;
}

const messages = Array.from({ length: 401 }, (_, at) => ({ role: at % 2 === 0 ? 'user' : 'assistant', content: 'word '.repeat(600) }));
const body = { model: 'gpt-4o', messages, stop: ['END'] };
const sha256 = (data: Buffer): string => createHash('sha256').update(data).digest('hex');

test('a large request that is mapped reaches the engine in the same bytes as a small one would, with the same receipt', async () => {
  const sent = Buffer.from(JSON.stringify(body));
  expect(sent.length).toBeGreaterThan(LARGE_BYTES);
  upstream.answer((socket) => void socket.write(whole(claudeAnswer('hi'))));
  const expected = mapTo(targetOf('claude', 'gpt-4o'), 'openai-chat', body);
  for (const [headers, data] of [
    [[], sent],
    [['content-encoding', 'gzip'], gzipSync(sent)],
  ] as const) {
    const reply = await call(`${server.url}/e/claude/v1/chat/completions`, {
      method: 'POST',
      headers: ['content-type', 'application/json', ...headers],
      body: data,
    });
    expect(JSON.parse(reply.body.toString())).toMatchObject({ choices: [{ message: { content: 'hi' } }] });
    const received = upstream.requests.at(-1)?.body ?? Buffer.alloc(0);
    expect(received.equals(Buffer.from(JSON.stringify(expected.upstream?.body)))).toBe(true);
    const receipt = await receiptOf(server.url, reply.headers['x-abp-run-id']);
    expect(receipt.fidelity).toEqual(expected.fidelity);
    expect([receipt.request, receipt.upstream_request]).toEqual([
      { sha256: sha256(data), bytes: data.length },
      { sha256: sha256(received), bytes: received.length },
    ]);
  }
});

test('a large request that is refused is refused before anyone is called, with a receipt', async () => {
  const before = upstream.requests.length;
  const reply = await post(`${server.url}/e/claude/v1/chat/completions`, { ...body, logprobs: true });
  expect([reply.status, upstream.requests.length]).toEqual([400, before]);
  const receipt = await receiptOf(server.url, reply.headers['x-abp-run-id']);
  expect(receipt).toMatchObject({ status: 'failed', error: { code: 'E001' } });
});

test('a large body that is no JSON is refused as a small one is', async () => {
  const broken = `${JSON.stringify(body).slice(0, -1)},"x":tru}`;
  const reply = await call(`${server.url}/e/claude/v1/chat/completions`, {
    method: 'POST',
    headers: ['content-type', 'application/json'],
    body: broken,
  });
  const { error } = JSON.parse(reply.body.toString());
  expect([reply.status, error.code, error.message]).toEqual([400, 'invalid_request', expect.stringContaining('not valid JSON')]);
});

test('a large answer in one piece is translated whole', async () => {
  const words = 'answer '.repeat(120_000);
  upstream.answer((socket) => void socket.write(whole(claudeAnswer(words))));
  const reply = await post(`${server.url}/e/claude/v1/chat/completions`, { model: 'gpt-4o', messages: [{ role: 'user', content: 'go' }] });
  expect(reply.body.length).toBeGreaterThan(LARGE_BYTES);
  expect(JSON.parse(reply.body.toString()).choices[0].message.content).toBe(words);
  expect(await receiptOf(server.url, reply.headers['x-abp-run-id'])).toMatchObject({ status: 'completed', usage: { output_tokens: 1 } });
});

test('a large request whose first engine fails is translated for the next', async () => {
  const gemini = JSON.stringify({ candidates: [{ content: { role: 'model', parts: [{ text: 'later' }] }, finishReason: 'STOP' }] });
  upstream.answer((socket, { line }) => {
    socket.write(line.includes('/v1/messages') ? whole('{}', { status: '529 X' }) : whole(gemini));
  });
  const reply = await post(`${server.url}/v1/chat/completions`, { ...body, model: 'smart' });
  expect(JSON.parse(reply.body.toString())).toMatchObject({ choices: [{ message: { content: 'later' } }] });
  expect((await receiptOf(server.url, reply.headers['x-abp-run-id'])).attempts).toMatchObject([
    { engine: 'claude', status: 529 },
    { engine: 'gemini', status: 200 },
  ]);
});

test('a large answer that this server cannot translate is not called the fault of the engine', async () => {
  upstream.answer((socket) => void socket.write(whole(claudeAnswer('answer '.repeat(120_000)))));
  await server.gateway.calls.large.close();
  const reply = await post(`${server.url}/e/claude/v1/chat/completions`, { model: 'gpt-4o', messages: [{ role: 'user', content: 'go' }] });
  expect([reply.status, JSON.parse(reply.body.toString()).error.code]).toEqual([500, 'internal']);
  expect(await receiptOf(server.url, reply.headers['x-abp-run-id'])).toMatchObject({
    status: 'failed',
    error: { code: 'internal', message: expect.stringContaining('the server is closing') },
  });
});
