import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { startServe } from '../support/serve.ts';
import { expectAccounts } from './accounts.ts';
import { startCallers } from './callers.ts';
import { KILL_ROUNDS, ROUND_MS, STREAMS } from './size.ts';
import { startSlowEngine } from './slow-engine.ts';

it(`kill -9 during ${STREAMS} streams, ${KILL_ROUNDS} times on one home: every call of the engine has one receipt`, {
  timeout: KILL_ROUNDS * ROUND_MS,
}, async () => {
  const parent = mkdtempSync(join(tmpdir(), 'abp-kill-'));
  const home = join(parent, 'home');
  const engine = await startSlowEngine();
  onTestFinished(() => {
    engine.close();
    rmSync(parent, { recursive: true, force: true });
  });
  const env = { ABP_ENGINE_CLAUDE_URL: engine.url, ABP_ENGINE_CLAUDE_KEY: 'sk-test' };
  let server = await startServe(home, env);
  const whole: string[] = [];
  for (let round = 0; round < KILL_ROUNDS; round += 1) {
    const before = engine.asked.size;
    const callers = startCallers(server.url, STREAMS);
    await expect.poll(() => engine.asked.size - before, { interval: 5, timeout: 60_000 }).toBeGreaterThan(STREAMS / 2);
    // Anywhere between the first answers and well after the first streams have ended.
    await sleep(Math.random() * 2500);
    expect(await server.end('SIGKILL')).toBe('SIGKILL');
    callers.stop();
    whole.push(...callers.whole());
    server = await startServe(home, env);
    const receipts = await expectAccounts(server.url, home, engine.asked);
    expect(receipts.length).toBeGreaterThanOrEqual(engine.asked.size);
    // A caller who has read an answer to its end finds that it was completed, whatever happened to the server after that.
    const statuses = new Map(receipts.map(({ run_id, status }) => [run_id, status]));
    expect(whole.filter((run) => statuses.get(run) !== 'completed')).toEqual([]);
  }
  expect(await server.end('SIGTERM')).toBe(0);
  expect(engine.asked.size).toBeGreaterThan(KILL_ROUNDS);
});
