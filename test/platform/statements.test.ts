import { DatabaseSync, StatementSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { TestPlatform } from '../support/platform.ts';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await TestPlatform.open();
});
afterAll(async () => {
  vi.restoreAllMocks();
  await platform.close();
});

test('a text turn takes at most ten statements, also with a long history', async () => {
  const session = await platform.session();
  const one = async (): Promise<void> => {
    await platform.send(session, 'say "hi"');
    await vi.waitUntil(() => platform.service.worker.busy === 0, { interval: 1, timeout: 60_000 });
  };
  for (let turn = 0; turn < 30; turn += 1) await one();
  const spies = [
    ...(['run', 'get', 'all'] as const).map((name) => vi.spyOn(StatementSync.prototype, name)),
    vi.spyOn(DatabaseSync.prototype, 'exec'),
  ];
  for (let turn = 0; turn < 20; turn += 1) await one();
  const statements = spies.reduce((sum, spy) => sum + spy.mock.calls.length, 0);
  // The heartbeat of the worker may fall into the twenty turns; it comes every few seconds, not with every turn.
  expect(Math.floor(statements / 20)).toBeLessThanOrEqual(10);
});
