import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newRunId } from '../../src/contract/run-id.ts';
import { openHome } from '../../src/home/home.ts';
import { openStore } from '../../src/store/database.ts';
import { createKey, findRunKey, isLive, revokeRunKeys } from '../../src/store/keys.ts';
import { appendRunEvents, deleteRunEvents, readRunEvents } from '../../src/store/runs/run-events.ts';
import { createRun, endRun, getRun, interruptRuns, setRunProcess } from '../../src/store/runs/runs.ts';
import type { Store } from '../../src/store/store.ts';
import { freshDatabase } from '../support/postgres.ts';

const folder = mkdtempSync(join(tmpdir(), 'abp-store-runs-'));

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
});

const home = () => openHome({ path: join(folder, 'home') });

describe.each<[string, () => Promise<Store>]>([
  ['SQLite', () => openStore({ home: home() })],
  ['PostgreSQL', async () => openStore({ home: home(), url: await freshDatabase() })],
])('runs of coding agents on %s', (_, open) => {
  let store: Store;

  beforeAll(async () => {
    store = await open();
  });

  afterAll(() => store.close());

  const run = async (node = 'node_a') => {
    const runId = newRunId();
    await createRun(store, { runId, agent: 'claude', node, keyId: null, options: { prompt: 'hi\u0000' }, createdAt: 5 });
    return runId;
  };

  it('are kept from their beginning to their end, which comes once', async () => {
    const runId = await run();
    await setRunProcess(store, runId, { pid: 7, started: '99' });
    expect(await getRun(store, runId)).toMatchObject({
      status: 'running',
      pid: 7,
      pidStarted: '99',
      result: null,
      options: { prompt: 'hi\u0000' },
    });
    await endRun(store, runId, { status: 'completed', result: { text: 'ok' }, at: 9 });
    await endRun(store, runId, { status: 'failed', result: { text: 'again' }, at: 10, options: { prompt: 'gone' } });
    expect(await getRun(store, runId)).toMatchObject({
      status: 'completed',
      pid: null,
      result: { text: 'ok' },
      completedAt: 9,
      createdAt: 5,
    });
    expect(await getRun(store, newRunId())).toBeUndefined();
  });

  it('are closed after a crash of their own node only', async () => {
    const [mine, theirs] = [await run('node_b'), await run('node_c')];
    expect(await interruptRuns(store, 'node_b', 20)).toEqual([mine]);
    expect(await getRun(store, mine)).toMatchObject({ status: 'failed', result: { exitReason: 'interrupted' } });
    expect(await getRun(store, theirs)).toMatchObject({ status: 'running' });
  });

  it('have events in their order, page by page, and no number twice', async () => {
    const runId = await run();
    const events = Array.from({ length: 1200 }, (_unused, at) => ({ sequence: at + 1, event: { type: 'debug', at } }));
    await appendRunEvents(store, runId, events);
    const first = await readRunEvents(store, runId, 0);
    expect([first.length, first[0], first.at(-1)?.sequence]).toEqual([500, { sequence: 1, event: { type: 'debug', at: 0 } }, 500]);
    expect((await readRunEvents(store, runId, 1000)).length).toBe(200);
    await expect(appendRunEvents(store, runId, events.slice(0, 1))).rejects.toThrow();
    await deleteRunEvents(store, runId);
    expect(await readRunEvents(store, runId, 0)).toEqual([]);
  });

  it('have keys that die with them', async () => {
    const runId = await run();
    await createKey(store, { kind: 'run', name: 'run of claude', hash: runId, prefix: 'abp_', scopes: {}, createdAt: 1, runId });
    const key = await findRunKey(store, runId);
    expect(key !== undefined && isLive(key, 2)).toBe(true);
    await revokeRunKeys(store, [runId], 3);
    const dead = await findRunKey(store, runId);
    expect(dead !== undefined && isLive(dead, 4)).toBe(false);
  });
});
