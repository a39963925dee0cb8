import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it, onTestFinished } from 'vitest';
import { startGateway } from '../../support/gateway.ts';
import { call, post } from '../../support/http-call.ts';
import { freshDatabase } from '../../support/postgres.ts';
import { ended, spawnAbp } from '../../support/run-abp.ts';

it('workers are restarted, one after the other, and no turn is lost or done twice', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'abp-restarts-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
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
