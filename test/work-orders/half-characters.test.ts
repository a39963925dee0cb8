import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { adminCall } from '../gateway/priced-engine.ts';
import { startGateway } from '../support/gateway.ts';

it('a work order whose task was cut inside a character is taken', async () => {
  const root = mkdtempSync(join(tmpdir(), 'abp-half-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const server = await startGateway();
  onTestFinished(server.close);
  const rules = ['allowed_tools', 'disallowed_tools', 'deny_read', 'deny_write', 'allow_network', 'deny_network', 'require_approval_for'];
  const order = {
    id: '0192f3a0-c1d2-7b7e-8f00-112233445566',
    task: 'cut \ud83d',
    lane: 'patch_first',
    workspace: { root, mode: 'staged', include: [], exclude: [] },
    context: { files: [], snippets: [] },
    policy: Object.fromEntries(rules.map((rule) => [rule, []])),
    requirements: { required: [] },
    config: { model: 'sim/sim', vendor: {}, env: {}, max_budget_usd: null, max_turns: null },
  };
  const { status, body } = await adminCall(server, 'POST', '/v1/work-orders', order);
  expect([status, JSON.parse(String(body)).status]).toEqual([202, 'running']);
});
