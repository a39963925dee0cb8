import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { newRunId } from '../../src/contract/run-id.ts';
import { openHome } from '../../src/home/home.ts';
import { startKeeper } from '../../src/receipts/keeper/keeper.ts';
import { verifyStored } from '../../src/receipts/verify/verify-stored.ts';
import { openStore } from '../../src/store/database.ts';
import { chainOf } from '../../src/store/receipts/chain.ts';
import { closeFact, openFact } from '../support/facts.ts';
import { startPostgres, type TestPostgres } from '../support/postgres.ts';
import { startServe } from '../support/serve.ts';
import { expectAccounts } from './accounts.ts';
import { startCallers } from './callers.ts';
import { OUTAGE_ROUNDS, QUEUED_FACTS, ROUND_MS, STREAMS } from './size.ts';
import { startSlowEngine } from './slow-engine.ts';

describe('PostgreSQL that goes away', () => {
  let postgres: TestPostgres;
  let databaseUrl: string;
  beforeAll(async () => {
    postgres = await startPostgres({ durable: true });
    databaseUrl = await postgres.freshDatabase();
  });
  afterAll(() => postgres?.stop());

  function newHome(): string {
    const parent = mkdtempSync(join(tmpdir(), 'abp-outage-home-'));
    onTestFinished(() => rmSync(parent, { recursive: true, force: true }));
    return join(parent, 'home');
  }

  it(`loses none of ${QUEUED_FACTS} facts, and says that it is stalled`, { timeout: 300_000 }, async () => {
    const home = openHome({ path: newHome() });
    const stalls: string[] = [];
    const keeper = startKeeper({
      homePath: home.path,
      journalFolder: home.journalFolder,
      databaseUrl,
      version: '1',
      onStalled: (message) => stalls.push(message),
      onSettled: () => undefined,
    });
    await keeper.ready;
    await postgres.pause();
    for (let at = 0; at < QUEUED_FACTS / 2; at += 1) {
      const run = newRunId();
      keeper.append(openFact({ run }));
      keeper.append(closeFact({ run }));
      if (at % 1000 === 0) await sleep(0);
    }
    await expect.poll(() => keeper.stalled, { timeout: 60_000 }).toBeTruthy();
    await postgres.resume();
    await expect.poll(() => keeper.stalled, { timeout: 60_000 }).toBeUndefined();
    const store = await openStore({ home, url: databaseUrl });
    const sealed = async (): Promise<number> => (await chainOf(store, home.nodeId)).sequence;
    await expect.poll(sealed, { timeout: 240_000, interval: 250 }).toBe(QUEUED_FACTS / 2);
    await keeper.close();
    const found = await verifyStored(store, await chainOf(store, home.nodeId));
    expect(found).toMatchObject({ ok: true, receipts: QUEUED_FACTS / 2 });
    await store.close();
    expect(stalls.length).toBeGreaterThan(0);
  });

  it(`and a gateway that is killed meanwhile, ${OUTAGE_ROUNDS} times: every call of the engine has one receipt`, {
    timeout: OUTAGE_ROUNDS * ROUND_MS,
  }, async () => {
    const home = newHome();
    const engine = await startSlowEngine();
    onTestFinished(() => engine.close());
    const env = { ABP_ENGINE_CLAUDE_URL: engine.url, ABP_ENGINE_CLAUDE_KEY: 'sk-test', ABP_DATABASE_URL: databaseUrl, ABP_LOG: 'fatal' };
    let server = await startServe(home, env);
    for (let round = 0; round < OUTAGE_ROUNDS; round += 1) {
      const before = engine.asked.size;
      const callers = startCallers(server.url, STREAMS);
      await expect.poll(() => engine.asked.size - before, { interval: 5, timeout: 60_000 }).toBeGreaterThan(STREAMS / 2);
      await sleep(Math.random() * 500);
      await postgres.pause();
      const during = engine.asked.size;
      // The gateway goes on serving while its database is away.
      await expect.poll(() => engine.asked.size, { timeout: 60_000 }).toBeGreaterThan(during);
      const isKilled = round % 2 === 0;
      if (isKilled) {
        await sleep(Math.random() * 1000);
        expect(await server.end('SIGKILL')).toBe('SIGKILL');
      }
      callers.stop();
      await postgres.resume();
      if (isKilled) server = await startServe(home, env);
      else await expect.poll(async () => (await fetch(`${server.url}/readyz`)).status, { timeout: 60_000 }).toBe(200);
      await settled(server.url);
      await expectAccounts(server.url, home, engine.asked);
    }
    expect(await server.end('SIGTERM')).toBe(0);
  });
});

/** Waits until no run is open any more: those whose callers have gone end a moment later. */
async function settled(url: string): Promise<void> {
  const running = async (): Promise<number> => {
    const { items } = (await (await fetch(`${url}/v1/receipts?status=running`)).json()) as { items: unknown[] };
    const ready = (await (await fetch(`${url}/readyz`)).json()) as { status: string };
    return items.length + (ready.status === 'ready' ? 0 : 1);
  };
  await expect.poll(running, { timeout: 60_000, interval: 100 }).toBe(0);
  // A batch gathers for 50 ms.
  await sleep(300);
  await expect.poll(running, { timeout: 60_000, interval: 100 }).toBe(0);
}
