import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AbpClient } from '../../src/client/client.ts';
import { PendingReceipt } from '../../src/contract/receipts/receipt.ts';
import { newRunId, type RunId } from '../../src/contract/run-id.ts';
import { closeFact, openFact, runIdOf } from '../support/facts.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { call, type WireAnswer } from '../support/http-call.ts';
import { freshDatabase } from '../support/postgres.ts';

/** Written by hand: an id that is made now never has a time before those that were made already. */
const old = runIdOf(`run_${(Date.now() - 121_000).toString(16).padStart(12, '0')}7${'0'.repeat(3)}8${'0'.repeat(15)}`);
const untimed = runIdOf(`run_${'4'.repeat(32)}`);
const future = runIdOf('run_ffffffffffff7fff8fffffffffffffff');

let [one, other]: TestGateway[] = [];
beforeAll(async () => {
  const databaseUrl = await freshDatabase();
  [one, other] = [await startGateway({ databaseUrl }), await startGateway({ databaseUrl })];
});
afterAll(async () => {
  await one?.close();
  await other?.close();
});

const ask = (server: TestGateway | undefined, path: string): Promise<WireAnswer> =>
  call(`${server?.url}${path}`, { headers: ['x-abp-key', server?.token ?? ''] });
const pathsOf = (run: RunId): string[] => [
  `/v1/receipts/${run}`,
  `/v1/receipts/${run}/fidelity`,
  `/v1/receipts/${run}/verify`,
  `/v1/runs/${run}`,
];

describe('a run that nobody knows, where nodes share a database', () => {
  it('is pending while it is recent: another node may know it', async () => {
    const run = newRunId();
    for (const path of pathsOf(run)) {
      const answer = await ask(one, path);
      expect([answer.status, answer.headers['retry-after']]).toEqual([202, '1']);
      expect(PendingReceipt.parse(JSON.parse(answer.body.toString()))).toMatchObject({ run_id: run, status: 'pending' });
    }
  });

  it('is not there when its id is old, of no time, or of a time to come', async () => {
    for (const run of [old, untimed, future]) {
      for (const path of pathsOf(run)) expect((await ask(one, path)).status).toBe(404);
    }
  });

  it('has no late end', async () => {
    expect((await ask(one, `/v1/receipts/${newRunId()}/late-end`)).status).toBe(404);
  });

  it('looks to a caller like a run of somebody else', async () => {
    const run = newRunId();
    other?.gateway.keeper.append(openFact({ run, at: Date.now(), keyId: 'key_somebody' }));
    await other?.gateway.keeper.settled();
    expect((await ask(one, `/v1/receipts/${run}`)).status).toBe(200);
    expect((await call(`${one?.url}/v1/receipts/${run}`)).status).toBe(202);
    expect((await call(`${one?.url}/v1/receipts/${newRunId()}`)).status).toBe(202);
  });
});

describe('the receipt of a run on another node', () => {
  it('is waited for by the client, before and after the other node has told of it', async () => {
    const run = newRunId();
    const client = new AbpClient({ url: one?.url ?? '' });
    const receipt = client.getReceipt(run, { waitMs: 20_000 });
    await expect(client.verifyReceipt(run)).rejects.toMatchObject({ code: 'conflict' });
    await sleep(700);
    other?.gateway.keeper.append(openFact({ run, at: Date.now() }));
    await sleep(700);
    other?.gateway.keeper.append(closeFact({ run, at: Date.now() }));
    expect(await receipt).toMatchObject({ run_id: run, status: 'completed' });
    await client.close();
  });

  it('ends the wait of the client that is not told in time', async () => {
    const client = new AbpClient({ url: one?.url ?? '' });
    await expect(client.getReceipt(newRunId(), { waitMs: 300 })).rejects.toMatchObject({ code: 'request_timeout' });
    await client.close();
  });
});

describe('a run that nobody knows, where there is one node', () => {
  it('is not there, on SQLite', async () => {
    const server = await startGateway();
    for (const path of pathsOf(newRunId())) expect((await ask(server, path)).status).toBe(404);
    await server.close();
  });

  it('is not there, on PostgreSQL', async () => {
    const server = await startGateway({ databaseUrl: await freshDatabase() });
    for (const path of pathsOf(newRunId())) expect((await ask(server, path)).status).toBe(404);
    await server.close();
  });
});
