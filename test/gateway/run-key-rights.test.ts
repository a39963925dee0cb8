import { afterAll, beforeAll, expect, it } from 'vitest';
import { newRunId } from '../../src/contract/run-id.ts';
import { runPort } from '../../src/gateway/run-plane/run-port.ts';
import type { RunKeyRequest } from '../../src/runtime/gateway-port.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { call, post } from '../support/http-call.ts';
import { receiptOf } from '../support/receipt-of.ts';

// The key of a run is in the hands of its agent, which may not be anybody's friend.

let server: TestGateway;
beforeAll(async () => {
  server = await startGateway({ config: { auth: { local: false }, recording: { default: 'full' } } });
});
afterAll(() => server.close());

async function runKey(terms: Partial<RunKeyRequest> = {}): Promise<string[]> {
  const secret = await runPort(server.gateway).mintRunKey({
    ...{ runId: newRunId(), agent: 'claude', engine: 'sim', model: null, emulate: [], traffic: [], compatibility: 'best_effort' },
    ...{ thinking: null, tools: null, tags: [], raw: false, expiresAt: Date.now() + 3_600_000 },
    ...terms,
  });
  return ['x-abp-key', secret];
}

const BODY = { model: 'sim-1', max_tokens: 50, messages: [{ role: 'user', content: 'say "hi"' }] };
const admin = (): string[] => ['x-abp-key', server.token];

it('does not erase what was recorded of its calls', async () => {
  const key = await runKey();
  const { headers } = await post(`${server.url}/e/sim/v1/messages`, BODY, key);
  const run = String(headers['x-abp-run-id']);
  await receiptOf(server.url, run, admin());
  for (const path of ['/v1/recordings?all=true', `/v1/receipts/${run}/bodies`])
    expect((await call(`${server.url}${path}`, { method: 'DELETE', headers: key })).status).toBe(403);
  const kept = await call(`${server.url}/v1/receipts/${run}/request`, { headers: admin() });
  expect([kept.status, JSON.parse(kept.body.toString())]).toEqual([200, BODY]);
});

it('does not loosen a strict run', async () => {
  const key = await runKey({ engine: 'sim:gemini', compatibility: 'strict' });
  const thinking = { ...BODY, max_tokens: 4000, thinking: { type: 'enabled', budget_tokens: 1024 } };
  const headers = [...key, 'x-abp-compatibility', 'best_effort', 'x-abp-emulate', 'extended_thinking'];
  const answer = await post(`${server.url}/v1/messages`, thinking, headers);
  const receipt = await receiptOf(server.url, answer.headers['x-abp-run-id'], admin());
  expect([answer.status, receipt.compatibility, receipt.error?.code]).toEqual([501, 'strict', 'E006']);
});

it.each([
  '/v1/keys',
  '/v1/users',
  '/v1/teams',
  '/v1/budgets',
  '/v1/settings',
  '/v1/receipts/export',
  '/v1/runs',
  '/v1/sessions',
  '/v1/agents',
])('learns nothing of others from %s', async (path) => {
  const { status, body } = await call(`${server.url}${path}`, { headers: await runKey() });
  if (status === 200) expect(JSON.parse(body.toString()).items).toEqual([]);
  else expect(status).toBe(403);
});
