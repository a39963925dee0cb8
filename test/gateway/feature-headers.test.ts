import { expect, onTestFinished, test } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import { post } from '../support/http-call.ts';
import { receiptOf } from '../support/receipt-of.ts';

const body = { model: 'm', max_tokens: 50, messages: [{ role: 'user', content: 'say hi' }] };
const beta = ['anthropic-beta', 'context-management-2025-06-27'];

test('a feature switch that another engine does not know is dropped and reported, and refused in strict', async () => {
  const gateway = await startGateway();
  onTestFinished(gateway.close);
  const served = await post(`${gateway.url}/e/sim:gemini/v1/messages`, body, beta);
  expect(served.status).toBe(200);
  const { fidelity } = await receiptOf(gateway.url, served.headers['x-abp-run-id']);
  expect(fidelity).toContainEqual(expect.objectContaining({ path: 'header anthropic-beta', fate: 'dropped', code: 'feature_switch' }));
  const strict = await post(`${gateway.url}/e/sim:gemini/v1/messages`, body, [...beta, 'X-ABP-Compatibility', 'strict']);
  expect(strict.status).toBe(501);
  expect(JSON.parse(String(strict.body)).error).toMatchObject({ code: 'E006', details: { path: 'header anthropic-beta' } });
});
