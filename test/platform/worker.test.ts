import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import { call, post } from '../support/http-call.ts';
import { freshDatabase } from '../support/postgres.ts';
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
    const url = await freshDatabase();
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

  test('is restarted, one after the other, and no turn is lost or done twice', async () => {
    const url = await freshDatabase();
    const server = await startGateway({ databaseUrl: url, config: { sessions: { turns: 0 } } });
    const start = async (home: string): Promise<ReturnType<typeof spawnAbp>> => {
      const env = { ABP_HOME: join(folder, home), ABP_DATABASE_URL: url, ABP_LOG: 'error' };
      const worker = spawnAbp(['worker', '--json', '--turns', '4'], env);
      await once(createInterface(worker.stdout), 'line');
      return worker;
    };
    const json = (answer: { body: Buffer }): { id: string; status: string } => JSON.parse(answer.body.toString());
    const old = await Promise.all([start('rolling-a'), start('rolling-b')]);
    const workers = [...old];
    try {
      const agent = json(await post(`${server.url}/v1/agents`, { name: 'helper', capabilities: ['test_math'] }));
      const sessions = await Promise.all(
        Array.from({ length: 6 }, async () => json(await post(`${server.url}/v1/sessions`, { agent_id: agent.id })).id),
      );
      const message = { content: 'wait 400 ms and call the tool add with {"a": 1, "b": 2}' };
      const sendAll = () => Promise.all(sessions.map((id) => post(`${server.url}/v1/sessions/${id}/messages`, { message })));
      await sendAll();
      for (const [at, worker] of old.entries()) {
        const stopped = ended(worker);
        worker.kill('SIGTERM');
        workers.push(await start(`rolling-new-${at}`));
        await sendAll();
        expect(await stopped).toBe(0);
      }
      for (const id of sessions) {
        await expect.poll(async () => json(await call(`${server.url}/v1/sessions/${id}`)).status, { timeout: 60_000 }).toBe('idle');
        const rows = await server.gateway.store.db.selectFrom('session_events').selectAll().where('session_id', '=', id).execute();
        const of = (type: string): { tool_call_id?: string }[] =>
          rows.filter((row) => row.type === type).map(({ data }) => JSON.parse(String(data)));
        expect([of('turn.completed').length, of('turn.failed').length]).toEqual([of('turn.started').length, 0]);
        const results = of('tool.completed').map((data) => data.tool_call_id);
        expect(results.length).toBeGreaterThan(0);
        expect(new Set(results).size).toBe(results.length);
      }
    } finally {
      for (const worker of workers) worker.kill('SIGKILL');
      await server.close();
    }
  });

  test('says what it needs', async () => {
    const { code, err } = await runAbp(['worker'], { env: { ABP_HOME: join(folder, 'alone') } });
    expect(err).toContain('set ABP_DATABASE_URL');
    expect(code).toBe(7);
  });
});
