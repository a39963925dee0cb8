import { existsSync } from 'node:fs';
import { sql } from 'kysely';
import { afterEach, describe, expect, test } from 'vitest';
import { parseRunId } from '../../src/contract/run-id.ts';
import { openHome } from '../../src/home/home.ts';
import { openStore } from '../../src/store/database.ts';
import { MIGRATIONS } from '../../src/store/migrations.ts';
import { getReceipt } from '../../src/store/receipts/receipts.ts';
import type { Store } from '../../src/store/store.ts';
import { type Child, endChildren, startChild } from './children.ts';
import { temporaryHome } from './temporary-home.ts';

afterEach(endChildren);

const runsOf = (child: Child): string[] => child.lines.filter((line) => line.startsWith('run_'));

async function missing(store: Store, runs: readonly string[]): Promise<string[]> {
  const lost: string[] = [];
  for (const run of runs) {
    const runId = parseRunId(run);
    if (runId === undefined || (await getReceipt(store, runId)) === undefined) lost.push(run);
  }
  return lost;
}

describe('processes that share a home', () => {
  test('create it, its secrets and its tables once when they start at the same moment', async () => {
    const path = temporaryHome();
    const children = await Promise.all([1, 2, 3, 4].map(() => startChild({ home: path, command: 'open' })));
    for (const child of children) child.go();
    expect(await Promise.all(children.map((child) => child.ended()))).toEqual([0, 0, 0, 0]);
    for (const child of children) expect(child.lines).toContain('pg not loaded');
    const home = openHome({ path });
    const secrets = new Set(children.flatMap((child) => child.lines.filter((line) => line.startsWith('token '))));
    expect([...secrets]).toEqual([`token ${home.token} ${home.nodeId}`]);
    const store = await openStore({ home });
    const { rows } = await sql<{ name: string }>`select name from kysely_migration`.execute(store.db);
    expect(rows.map((row) => row.name)).toEqual(Object.keys(MIGRATIONS));
    await store.close();
  });

  test('lose nothing when they write at the same time', async () => {
    const path = temporaryHome();
    const children = await Promise.all([1, 2].map(() => startChild({ home: path, command: 'insert' })));
    for (const child of children) child.go();
    expect(await Promise.all(children.map((child) => child.ended()))).toEqual([0, 0]);
    const runs = children.flatMap(runsOf);
    expect(runs).toHaveLength(400);
    const store = await openStore({ home: openHome({ path }) });
    expect(await missing(store, runs)).toEqual([]);
    await store.close();
  });

  test.each([1, 2])('lose nothing acknowledged when one is killed, round %i', async () => {
    const path = temporaryHome();
    const child = await startChild({ home: path, command: 'insert-forever' });
    child.go();
    await child.until((lines) => lines.length > 100);
    child.process.kill('SIGKILL');
    await child.ended();
    const runs = runsOf(child);
    expect(runs.length).toBeGreaterThan(50);
    const store = await openStore({ home: openHome({ path }) });
    expect(await missing(store, runs)).toEqual([]);
    const { rows } = await sql<{ integrity_check: string }>`pragma integrity_check`.execute(store.db);
    expect(rows.map((row) => row.integrity_check)).toEqual(['ok']);
    await store.close();
  });
});

describe('the server lock', () => {
  test('refuses a second server and names the first, until the first is killed', async () => {
    const path = temporaryHome();
    const child = await startChild({ home: path, command: 'lock' });
    child.go();
    await child.until((lines) => lines.includes('locked'));
    const home = openHome({ path });
    const pid = child.process.pid;
    expect(home.readAddress()).toEqual({ url: 'http://127.0.0.1:18088', pid });
    expect(() => home.lockServer()).toThrow(
      expect.objectContaining({
        code: 'conflict',
        message: `another server (pid ${pid}) already serves this home at http://127.0.0.1:18088; stop it or set ABP_HOME`,
      }),
    );
    child.process.kill('SIGKILL');
    await child.ended();
    expect(existsSync(`${path}/address`)).toBe(true);
    expect(home.readAddress()).toBeUndefined();
    const lock = home.lockServer();
    expect(existsSync(`${path}/address`)).toBe(false);
    lock.release();
  });
});
