import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it, onTestFinished } from 'vitest';
import { markedProcesses } from '../../src/base/process-table.ts';
import { newRunId, type RunId } from '../../src/contract/run-id.ts';
import { openHome } from '../../src/home/home.ts';
import { openStore } from '../../src/store/database.ts';
import { createRun } from '../../src/store/runs/runs.ts';

import { fakeCommand } from '../support/agents/command.ts';
import { receiptOf } from '../support/receipt-of.ts';
import { type ServeProcess, startServe } from '../support/serve.ts';

/** A run whose process was killed after it had been accepted, and before anything else was written of it. */
async function acceptedOnly(path: string): Promise<RunId> {
  const home = openHome({ path });
  const store = await openStore({ home });
  const runId = newRunId();
  const options = { agent: 'claude', prompt: 'x', engine: 'sim', model: 'm' };
  await createRun(store, { runId, agent: 'claude', node: home.nodeId, keyId: null, options, createdAt: Date.now() });
  await store.close();
  return runId;
}

it('a server that is killed leaves no agent, and its next start closes the run', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'abp-run-crash-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const home = join(folder, 'home');
  const cwd = join(folder, 'work');
  mkdirSync(cwd);
  const { token } = openHome({ path: home });
  const call = async (server: ServeProcess, path: string, body?: object): Promise<Record<string, unknown>> => {
    const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const answer = await fetch(`${server.url}${path}`, { ...init, headers: { 'x-abp-key': token, 'content-type': 'application/json' } });
    return (await answer.json()) as Record<string, unknown>;
  };
  const first = await startServe(home);
  const env = { PATH: fakeCommand(join(folder, 'bin'), 'claude') };
  const { run_id: run } = await call(first, '/v1/runs', { agent: 'claude', prompt: 'wait', engine: 'sim', cwd, env });
  const agents = (): number[] => markedProcesses('ABP_RUN_ID', String(run));
  await expect.poll(agents, { timeout: 60_000 }).not.toEqual([]);
  await first.end('SIGKILL');
  await expect.poll(agents, { timeout: 60_000 }).toEqual([]);
  const accepted = await acceptedOnly(home);
  const second = await startServe(home);
  expect(await call(second, `/v1/runs/${run}`)).toMatchObject({ status: 'failed', reason: 'interrupted', state: null });
  expect(await receiptOf(second.url, String(run), ['x-abp-key', token])).toMatchObject({
    plane: 'run',
    status: 'failed',
    reason: 'interrupted',
  });
  expect(await receiptOf(second.url, accepted, ['x-abp-key', token])).toMatchObject({
    ...{
      plane: 'run',
      status: 'failed',
      reason: 'interrupted',
      engine: 'sim',
      model: { requested: 'm' },
      backend: { id: 'adapter:claude' },
    },
    error: { message: 'the process of the run ended before its agent was started' },
  });
  expect(readdirSync(join(home, 'runs'), { recursive: true })).toEqual(['.processes']);
  const database = new DatabaseSync(join(home, 'abp.db'), { readOnly: true });
  const keys = database.prepare("select revoked_at from keys where kind = 'run'").all();
  database.close();
  expect(keys).toEqual([{ revoked_at: expect.any(Number) }]);
});
