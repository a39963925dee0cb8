import { expect, onTestFinished, test } from 'vitest';
import { AgentApi } from '../support/agent-api.ts';
import { startGateway } from '../support/gateway.ts';
import { call, post } from '../support/http-call.ts';
import { receiptOf } from '../support/receipt-of.ts';

const body = { model: 'm', max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] };

test('a call brings tags of its own, within bounds and as far as its key allows', async () => {
  const gateway = await startGateway();
  onTestFinished(gateway.close);
  const api = new AgentApi(gateway).withToken();
  const key = async (scopes: object): Promise<string> =>
    (await api.call('POST', '/v1/keys', { name: 'k', tags: ['own'], scopes })).body.secret;
  const send = (tags: string, secret?: string) =>
    post(`${gateway.url}/e/sim/v1/messages`, body, ['X-ABP-Tags', tags, ...(secret === undefined ? [] : ['x-abp-key', secret])]);

  const plain = await send('team-blue, nightly,,team-blue');
  expect((await receiptOf(gateway.url, plain.headers['x-abp-run-id'])).tags).toEqual(['team-blue', 'nightly']);
  const usage = JSON.parse(String((await call(`${gateway.url}/v1/usage?group_by=tag&metric=runs`)).body));
  expect(usage.groups.map(({ key: { tag } }: { key: { tag: string } }) => tag).sort()).toEqual(['nightly', 'team-blue']);

  const secret = await key({ tags: ['team-*'] });
  const kept = await send('team-red', secret);
  const { body: receipt } = await api.call('GET', `/v1/receipts/${kept.headers['x-abp-run-id']}?wait=20`);
  expect(receipt.tags).toEqual(['own', 'team-red']);
  const refused = await send('other', secret);
  expect([refused.status, JSON.parse(String(refused.body)).error.message]).toEqual([403, 'This key may not tag its calls with "other".']);
  expect((await send('x', await key({ tags: [] }))).status).toBe(403);

  const many = await send(Array.from({ length: 11 }, (_, at) => `t${at}`).join(','));
  expect([many.status, JSON.parse(String(many.body)).error.message]).toEqual([400, 'X-ABP-Tags holds 11 tags; 10 are the most.']);
  expect((await send('a b')).status).toBe(400);
  expect((await send('x'.repeat(65))).status).toBe(400);
});
