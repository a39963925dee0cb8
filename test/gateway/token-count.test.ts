import { afterAll, beforeAll, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { post } from '../support/http-call.ts';
import { receiptOf } from '../support/receipt-of.ts';

let server: TestGateway;
beforeAll(async () => {
  server = await startGateway();
});
afterAll(() => server.close());

const body = { model: 'sim-1', messages: [{ role: 'user', content: 'x'.repeat(4000) }] };

test('a token count on an engine that counts none is our estimate, and its receipt says so', async () => {
  const reply = await post(`${server.url}/e/sim:openai-chat/v1/messages/count_tokens`, body);
  expect(JSON.parse(reply.body.toString())).toEqual({ input_tokens: 1000 });
  const receipt = await receiptOf(server.url, reply.headers['x-abp-run-id']);
  expect(receipt).toMatchObject({ status: 'completed', reason: 'estimated', response: null });
  expect(receipt.fidelity).toContainEqual(expect.objectContaining({ path: '(token count)', fate: 'emulated', code: 'count_estimated' }));
  expect(receipt.emulations).toMatchObject([{ capability: 'token_counting', strategy: { type: 'post_processing' } }]);
});

test('strict refuses an estimate', async () => {
  const reply = await post(`${server.url}/e/sim:openai-chat/v1/messages/count_tokens`, body, ['X-ABP-Compatibility', 'strict']);
  expect([reply.status, JSON.parse(reply.body.toString()).error.code]).toEqual([501, 'E006']);
});

test('an engine with an endpoint of its own counts', async () => {
  const reply = await post(`${server.url}/e/sim:gemini/v1/messages/count_tokens`, body);
  const receipt = await receiptOf(server.url, reply.headers['x-abp-run-id']);
  expect(receipt).toMatchObject({ status: 'completed', reason: null, response: { status: 200 } });
});
