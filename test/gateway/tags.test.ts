import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { workOrder } from '../../src/contract/work-orders/work-order.ts';
import { AgentApi } from '../support/agent-api.ts';
import { startGateway } from '../support/gateway.ts';
import { call, post } from '../support/http-call.ts';
import { receiptOf } from '../support/receipt-of.ts';
import { endedReceipt } from '../work-orders/control-call.ts';

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

test('a run and the calls of its agent bring no tag that the key of their caller may not, and keep those of the key', async () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'abp-tags-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const gateway = await startGateway({ config: { runs: { roots: [folder] } } });
  onTestFinished(gateway.close);
  const api = new AgentApi(gateway).withToken();
  const scopes = { planes: ['gateway', 'run'], tags: ['team-*'] };
  const { body: made } = await api.call('POST', '/v1/keys', { name: 'k', tags: ['own'], scopes });
  const keyed = new AgentApi(gateway, ['x-abp-key', made.secret]);
  const order = (tags: readonly string[]) =>
    workOrder('say hi')
      .workspace({ root: folder, mode: 'pass_through' })
      .config({ vendor: { abp: { tags } } })
      .build();
  const refused = await keyed.call('POST', '/v1/work-orders?backend=engine:sim', order(['other']));
  expect([refused.status, refused.body.error?.message]).toEqual([403, 'This key may not tag its calls with "other".']);
  const started = await keyed.call('POST', '/v1/work-orders?backend=engine:sim', order(['team-red']));
  expect(started.status).toBe(202);
  const receipt = await endedReceipt(gateway, started.body.run_id);
  expect(receipt.tags).toEqual(expect.arrayContaining(['team-red']));
  const { body: listed } = await api.call('GET', '/v1/receipts?limit=50');
  const calls = listed.items.filter(({ parent_run_id: parent }: { parent_run_id: string | null }) => parent === started.body.run_id);
  expect(calls).not.toEqual([]);
  for (const { tags } of calls) expect(tags).toEqual(expect.arrayContaining(['own', 'team-red']));
});
