import { afterAll, beforeAll, expect, it } from 'vitest';
import { encodeSse } from '../../src/base/sse.ts';
import { findDialect } from '../../src/dialects/index.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { post } from '../support/http-call.ts';
import { receiptOf } from '../support/receipt-of.ts';
import { type RecordingUpstream, startUpstream, whole } from '../support/recording-upstream.ts';

let upstream: RecordingUpstream;
let server: TestGateway;
beforeAll(async () => {
  upstream = await startUpstream();
  const engine = { url: upstream.url, key: 'k' };
  server = await startGateway({ engines: { openai: engine, mistral: engine, gemini: engine } });
});
afterAll(async () => {
  await server.close();
  await upstream.close();
});

const chat = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 };

/** Paths that no dialect describes, an answer to a call there, and its cost by the price list. */
it.each([
  ['openai', '/v1/responses/compact', { id: 'r', model: 'gpt-5', output: [], usage: { input_tokens: 100, output_tokens: 10 } }, 225_000],
  ['openai', '/v1/completions', { id: 'c', model: 'gpt-3.5-turbo-instruct', choices: [{ text: 'x', index: 0 }], usage: chat }, 170_000],
  ['mistral', '/v1/fim/completions', { id: 'c', model: 'codestral-latest', choices: [{ message: { content: 'x' } }], usage: chat }, 39_000],
  [
    'gemini',
    '/v1beta/interactions',
    { id: 'i', model: 'gemini-2.5-flash', usage: { total_input_tokens: 100, total_output_tokens: 10 } },
    55_000,
  ],
])('on %s, %s is counted and priced though its bytes pass unread', async (engine, path, body, nanoUsd) => {
  upstream.answer((socket) => {
    socket.write(whole(JSON.stringify(body)));
  });
  const { headers } = await post(`${server.url}/e/${engine}${path}`, JSON.stringify({ model: body.model }));
  const { usage, cost } = await receiptOf(server.url, headers['x-abp-run-id']);
  expect(usage).toMatchObject({ input_tokens: 100, output_tokens: 10, estimated: false });
  expect(cost?.nano_usd).toBe(nanoUsd);
});

const image = { input_tokens: 50, output_tokens: 1056, total_tokens: 1106, input_tokens_details: { text_tokens: 10, image_tokens: 40 } };

it.each([
  ['/v1/images/generations', { created: 1, data: [{ b64_json: 'AAAA' }], usage: image }, [50, 1056]],
  ['/v1/audio/transcriptions', { text: 'hi', usage: { type: 'tokens', input_tokens: 14, output_tokens: 45 } }, [14, 45]],
])('the tokens of %s are counted, without a price, since nothing names the model', async (path, body, tokens) => {
  upstream.answer((socket) => {
    socket.write(whole(JSON.stringify(body)));
  });
  const { headers } = await post(`${server.url}/e/openai${path}`, '{}');
  const { usage, cost } = await receiptOf(server.url, headers['x-abp-run-id']);
  expect([usage?.input_tokens, usage?.output_tokens]).toEqual(tokens);
  expect(cost?.nano_usd ?? null).toBeNull();
});

it('a transcript that is told by its seconds has no tokens', async () => {
  upstream.answer((socket) => {
    socket.write(whole(JSON.stringify({ text: 'hi', usage: { type: 'duration', seconds: 3 } })));
  });
  const { headers } = await post(`${server.url}/e/openai/v1/audio/transcriptions`, '{}');
  expect((await receiptOf(server.url, headers['x-abp-run-id'])).usage).toBeNull();
});

it('the tokens of a picture that comes as a stream are those of its last event', () => {
  const observer = findDialect('openai-responses')?.observeStream();
  for (const event of [
    { type: 'image_generation.partial_image', b64_json: 'AAAA', partial_image_index: 0 },
    { type: 'image_generation.completed', b64_json: 'AAAA', usage: image },
  ])
    observer?.frame(Buffer.from(encodeSse({ event: event.type, data: JSON.stringify(event) })));
  expect(observer?.done().usage).toMatchObject({ inputTokens: 50, outputTokens: 1056 });
});
