import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { AgentApi } from '../../support/agent-api.ts';
import { fakeCommand } from '../../support/agents/command.ts';
import { startGateway } from '../../support/gateway.ts';
import { readyDatabase } from '../../support/postgres.ts';
import { ended, spawnAbp } from '../../support/run-abp.ts';

let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'abp-coding-worker-'));
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
});

test('a worker runs coding agents too: their calls go through it', async () => {
  const url = await readyDatabase();
  const server = await startGateway({ databaseUrl: url, config: { sessions: { turns: 0 } } });
  const worker = spawnAbp(['worker', '--json', '--turns', '2'], {
    PATH: fakeCommand(join(folder, 'bin'), 'claude'),
    ABP_HOME: join(folder, 'worker'),
    ABP_DATABASE_URL: url,
    ABP_LOG: 'error',
  });
  try {
    await once(createInterface(worker.stdout), 'line');
    const admin = new AgentApi(server).withToken();
    const tools = [{ type: 'coding_agent', agent: 'claude', engine: 'sim' }];
    await admin.call('POST', '/v1/capabilities', { id: 'coder', name: 'Coder', description: 'x', tools });
    const agent_id = await admin.agent({ capabilities: ['coder'] });
    const { id } = (await admin.call('POST', '/v1/sessions', { agent_id })).body;
    const content = 'call the tool run_claude with {"prompt": "say \\"from the worker\\""}';
    await admin.call('POST', `/v1/sessions/${id}/messages`, { message: { content } });
    await expect.poll(async () => (await admin.call('GET', `/v1/sessions/${id}`)).body.status, { timeout: 60_000 }).toBe('idle');
    const { items } = (await admin.call('GET', `/v1/sessions/${id}/messages`)).body;
    expect(items[2]?.content[0]).toMatchObject({ result: { text: 'from the worker', files_changed: [] } });
    const runs = (await admin.call('GET', '/v1/runs')).body.items as { plane: string; run_id: string; parent_run_id: string }[];
    const run = runs.find(({ plane }) => plane === 'run')?.run_id;
    expect(runs.filter(({ plane }) => plane === 'gateway').map(({ parent_run_id }) => parent_run_id)).toEqual([run]);
    worker.kill('SIGTERM');
    expect(await ended(worker)).toBe(0);
  } finally {
    worker.kill('SIGKILL');
    await server.close();
  }
});
