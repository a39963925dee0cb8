import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createLocalRuns } from '../../src/node/run.ts';
import { createCodingAgents } from '../../src/runtime/coding-agents/coding-agents.ts';
import { fakeCommand } from '../support/agents/command.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

let server: TestGateway;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'abp-cancel-'));
  for (const name of ['bin', 'user', 'work']) mkdirSync(join(folder, name));
  server = await startGateway();
});

afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

const cancel = async (run: string): Promise<number> =>
  (await fetch(`${server.url}/v1/runs/${run}/cancel`, { method: 'POST', headers: { 'x-abp-key': server.token } })).status;

it('ends a run that another process than the server drives', async () => {
  const env = { PATH: fakeCommand(join(folder, 'bin'), 'claude'), HOME: join(folder, 'user') };
  const runs = createLocalRuns({ agents: createCodingAgents({ env }), homePath: server.home, env });
  const run = runs.run({ agent: 'claude', prompt: 'wait 60000 ms', engine: 'sim', cwd: join(folder, 'work'), approvalMode: 'yolo' });
  await expect.poll(() => run.state).toBe('running');
  // The server hears of it when its books are opened.
  await expect.poll(async () => await cancel(run.runId)).toBe(202);
  const result = await run;
  expect(result.exitReason).toBe('aborted');
  await runs.close();
  const answer = await fetch(`${server.url}/v1/receipts/${run.runId}?wait=20`, { headers: { 'x-abp-key': server.token } });
  expect(await answer.json()).toMatchObject({ status: 'cancelled', reason: 'aborted' });
  expect(await cancel(run.runId)).toBe(404);
});
