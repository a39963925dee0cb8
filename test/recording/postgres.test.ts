import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import { call, post } from '../support/http-call.ts';
import { readyDatabase } from '../support/postgres.ts';
import { receiptOf } from '../support/receipt-of.ts';

it('records, replays and erases with PostgreSQL as the home database', async () => {
  const server = await startGateway({ databaseUrl: await readyDatabase() });
  onTestFinished(() => server.close());
  const request = JSON.stringify({ model: 'sim-1', max_tokens: 9, stream: true, messages: [{ role: 'user', content: 'say "postgres"' }] });
  const run = await post(`${server.url}/e/sim/v1/messages`, request);
  expect(await receiptOf(server.url, run.headers['x-abp-run-id'])).toMatchObject({ replayable: true });
  const again = await post(`${server.url}/e/replay/v1/messages`, request);
  expect(again.body.equals(run.body)).toBe(true);
  const erased = await call(`${server.url}/v1/recordings?engine=sim`, { method: 'DELETE' });
  expect(JSON.parse(erased.body.toString())).toEqual({ erased: 1, elsewhere: 0 });
  expect((await post(`${server.url}/e/replay/v1/messages`, request)).status).toBe(404);
  expect(server.faults()).toBe('');
});

it('erases bodies that another node has: at once where that node is there, else when it is back, and nobody reads them until then', async () => {
  process.env.ABP_KEY_SECRET = 'a secret that both homes know, long enough';
  const folder = mkdtempSync(join(tmpdir(), 'abp-erase-'));
  const databaseUrl = await readyDatabase();
  const start = (name: string) => startGateway({ databaseUrl, home: join(folder, name) });
  const asked = await start('asked');
  let holder = await start('holder');
  onTestFinished(async () => {
    await holder.close();
    await asked.close();
    delete process.env.ABP_KEY_SECRET;
    rmSync(folder, { recursive: true, force: true });
  });
  const record = async (words: string): Promise<string> => {
    const body = { model: 'sim-1', max_tokens: 9, messages: [{ role: 'user', content: words }] };
    const { headers } = await post(`${holder.url}/e/sim/v1/messages`, body);
    return (await receiptOf(holder.url, headers['x-abp-run-id'])).run_id;
  };
  const runs = [await record('one'), await record('two'), await record('three'), await record('four')];
  const token = ['authorization', `Bearer ${asked.token}`];
  const erase = (run = '') => call(`${asked.url}/v1/receipts/${run}/bodies`, { method: 'DELETE', headers: token });
  const left = async (): Promise<string[]> => {
    const { body } = await call(`${asked.url}/v1/recordings`, { headers: token });
    return JSON.parse(body.toString()).items.map(({ run_id }: { run_id: string }) => run_id);
  };
  expect((await call(`${holder.url}/v1/receipts/${runs[0]}/request`)).status).toBe(200);
  expect((await erase(runs[0])).status).toBe(204);
  expect((await call(`${holder.url}/v1/receipts/${runs[0]}/request`)).status).toBe(404);
  await holder.close();
  const queued = await erase(runs[1]);
  expect([queued.status, JSON.parse(queued.body.toString())]).toEqual([202, { erased: 0, elsewhere: 1 }]);
  const selected = await call(`${asked.url}/v1/recordings?engine=sim`, { method: 'DELETE', headers: token });
  expect(JSON.parse(selected.body.toString())).toEqual({ erased: 0, elsewhere: 3 });
  expect(await left()).toHaveLength(3);
  holder = await start('holder');
  // Before its first look, and after it.
  expect((await call(`${holder.url}/v1/receipts/${runs[1]}/request`)).status).toBe(404);
  await expect.poll(left).toEqual([]);
  expect(holder.faults()).toBe('');
});
