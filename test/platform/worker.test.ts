import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import { call, post } from '../support/http-call.ts';
import { readyDatabase } from '../support/postgres.ts';
import { ended, runAbp, spawnAbp } from '../support/run-abp.ts';

describe('abp worker', () => {
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'abp-worker-'));
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true });
  });

  test('works on the turns of a server that has no room for them, and stops when asked', async () => {
    const url = await readyDatabase();
    const server = await startGateway({ databaseUrl: url, config: { sessions: { turns: 0 } } });
    const worker = spawnAbp(['worker', '--json', '--turns', '2'], {
      ABP_HOME: join(folder, 'worker'),
      ABP_DATABASE_URL: url,
      ABP_LOG: 'error',
    });
    try {
      const [line] = await once(createInterface(worker.stdout), 'line');
      expect(JSON.parse(String(line))).toEqual({ worker: expect.stringMatching(/^worker_/), turns: 2, pid: worker.pid });
      const json = (answer: { body: Buffer }): { id: string; status: string } => JSON.parse(answer.body.toString());
      const agent = json(await post(`${server.url}/v1/agents`, { name: 'helper', capabilities: ['test_math'] }));
      const session = json(await post(`${server.url}/v1/sessions`, { agent_id: agent.id }));
      const at = `${server.url}/v1/sessions/${session.id}`;
      await post(`${at}/messages`, { message: { content: 'call the tool add with {"a": 1, "b": 2}' } });
      await expect.poll(async () => json(await call(at)).status, { timeout: 60_000 }).toBe('idle');
      expect((await call(`${at}/messages`)).body.toString()).toContain('"operation":"add"');
      worker.kill('SIGTERM');
      expect(await ended(worker)).toBe(0);
    } finally {
      worker.kill('SIGKILL');
      await server.close();
    }
  });

  test('says what it needs', async () => {
    const { code, err } = await runAbp(['worker'], { env: { ABP_HOME: join(folder, 'alone') } });
    expect(err).toContain('set ABP_DATABASE_URL');
    expect(code).toBe(7);
  });
});
