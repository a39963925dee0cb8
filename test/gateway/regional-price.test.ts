import { expect, onTestFinished, test, vi } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import { post } from '../support/http-call.ts';
import { receiptOf } from '../support/receipt-of.ts';
import { startUpstream, whole } from '../support/recording-upstream.ts';

const answerOf = (model: string) => ({
  id: 'c',
  object: 'chat.completion',
  model,
  choices: [{ index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 },
});

/** By hand: dollars per million, from the price list; 10 % on top for models released since March 2026. */
test.each([
  ['http://eu.api.openai.com', 'gpt-5.4', 'eu', 4_400_000],
  ['http://us.api.openai.com', 'gpt-4o', 'us', 3_500_000],
  ['http://api.openai.com', 'gpt-5.4', undefined, 4_000_000],
])('a call to %s with %s is served in %s and costs %d', async (url, model, region, nanoUsd) => {
  const vendor = await startUpstream();
  onTestFinished(vendor.close);
  // It stands where the vendor is: a proxy answers for every host.
  vi.stubEnv('HTTP_PROXY', vendor.url);
  onTestFinished(() => void vi.unstubAllEnvs());
  const server = await startGateway({ engines: { openai: { url, key: 'k' } } });
  onTestFinished(server.close);
  vendor.answer((socket) => {
    socket.write(whole(JSON.stringify(answerOf(model))));
  });
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'hi' }] });
  const { headers } = await post(`${server.url}/e/openai/v1/chat/completions`, body);
  const { usage, cost } = await receiptOf(server.url, headers['x-abp-run-id']);
  expect([usage?.details?.region, cost?.nano_usd]).toEqual([region, nanoUsd]);
});
