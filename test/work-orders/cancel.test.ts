import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { markedProcesses } from '../../src/base/process-table.ts';
import { workOrder } from '../../src/contract/work-orders/work-order.ts';
import { createLocalRuns } from '../../src/node/run.ts';
import { createCodingAgents } from '../../src/runtime/coding-agents/coding-agents.ts';
import { fakeCommand } from '../support/agents/command.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { readyDatabase } from '../support/postgres.ts';
import { stopwatch } from '../support/processor-time.ts';
import { callRoute } from './control-call.ts';

const SIDECAR = fileURLToPath(new URL('./sidecar.mjs', import.meta.url));

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

describe('a run that another node of the database drives', () => {
  it('ends with every process of it, also those that hear no signal, when it is cancelled at this one', async ({ annotate }) => {
    const databaseUrl = await readyDatabase();
    const config = { sidecars: { stubborn: { command: [process.execPath, SIDECAR, 'stubborn'] } } };
    const [driver, other] = [await startGateway({ databaseUrl, config }), await startGateway({ databaseUrl })];
    onTestFinished(() => other.close());
    onTestFinished(() => driver.close());
    const order = workOrder('settle in')
      .workspace({ root: join(folder, 'work') })
      .build();
    const { body } = await callRoute(driver, 'POST', '/v1/work-orders?backend=sidecar:stubborn', order);
    const run = String(body.run_id);
    await expect.poll(() => markedProcesses('ABP_RUN_ID', run).length).toBeGreaterThanOrEqual(3);
    const watch = stopwatch();
    expect((await callRoute(other, 'POST', `/v1/runs/${run}/cancel`)).status).toBe(202);
    await expect.poll(() => markedProcesses('ABP_RUN_ID', run), { interval: 20 }).toEqual([]);
    const { ms, lost } = watch();
    await annotate(`every process was gone ${ms} ms after the cancel; this process had no processor for ${lost} of them`);
    expect(ms - lost).toBeLessThan(5000);
    await expect.poll(async () => (await callRoute(other, 'GET', `/v1/receipts/${run}?wait=5`)).body.status).toBe('cancelled');
  });
});
