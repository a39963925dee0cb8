import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/base/json.ts';
import { settleTurns } from '../../../src/platform/turns/turn-settlement.ts';
import { answerApproval, openApprovals } from '../../../src/platform/turns/turns.ts';
import type { StoredSession } from '../../../src/store/agent-plane/sessions.ts';
import { needing } from '../../support/needs.ts';
import { TestPlatform } from '../../support/platform.ts';
import { startPostgres, type TestPostgres } from '../../support/postgres.ts';
import { runAbp } from '../../support/run-abp.ts';
import { effects, effectTools } from './tools.ts';

const ROUNDS = Number(process.env.ABP_CRASH_ROUNDS ?? 1);
const MANY = ROUNDS > 1;
const ONLY_MANY = MANY ? undefined : 'needs the many rounds of npm run crash';
const TURNS = MANY ? 200 : 24;
const SESSIONS = MANY ? 20 : 6;
const ROUND_MS = 600_000;
const ORDER = 'call the tool keyed with {} and call the tool once with {}';
/** Homes of a round whose chains are verified; each takes a process. */
const VERIFIED = 3;
const SCRIPT = new URL('./worker.ts', import.meta.url);

let folder: string;
const children = new Set<ChildProcess>();

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'abp-crash-'));
  effectTools(folder);
});
afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
  children.clear();
  rmSync(folder, { recursive: true, force: true });
});

async function startWorker(home: string, databaseUrl?: string): Promise<ChildProcess> {
  const child = fork(SCRIPT, [home, folder, ...(databaseUrl === undefined ? [] : [databaseUrl])]);
  children.add(child);
  child.once('exit', () => children.delete(child));
  await once(child, 'message', { signal: AbortSignal.timeout(60_000) });
  return child;
}

/** Blows come ever more slowly, so that a machine on which a worker takes long to begin gets its work done between two of them. */
const slower = (blows: number): number => 1 + blows / 10;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Events of all sessions so far: it grows with everything that a worker does. */
async function eventCount({ store }: TestPlatform): Promise<number> {
  const { count } = await store.db
    .selectFrom('session_events')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Checks all sessions; returns how many of their calls were cut off. */
async function assertAllSound(platform: TestPlatform, sessions: readonly StoredSession[]): Promise<number> {
  let hits = 0;
  for (const session of sessions) hits += await assertSound(platform, session);
  return hits;
}

/** What must hold of a session whatever happened to those who worked on it. Returns how many of its calls were cut off. */
async function assertSound(platform: TestPlatform, session: StoredSession): Promise<number> {
  const events = await platform.events(session);
  expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, at) => at + 1));
  const asked = events
    .filter(({ type }) => type === 'act.started')
    .flatMap(({ data }) => data.tool_calls as { id: string; name: string }[]);
  const results = events.filter(({ type }) => type === 'tool.completed').map(({ data }) => data.tool_call_id);
  expect(results.toSorted()).toEqual(asked.map(({ id }) => id).toSorted());
  const turns = events.filter(({ type }) => type === 'turn.started').length;
  expect(events.filter(({ type }) => type === 'turn.completed').length).toBe(turns);
  const { keyed, once: made } = effects(folder);
  const resultOf = (id: string): JsonObject | undefined =>
    events.find(({ type, data }) => type === 'tool.completed' && data.tool_call_id === id)?.data;
  for (const { id, name } of asked) {
    if (name === 'keyed') expect([resultOf(id)?.success, keyed.includes(id)], JSON.stringify(resultOf(id))).toEqual([true, true]);
    else expect(made.filter((one) => one === id).length).toBeLessThanOrEqual(1);
  }
  const succeeded = events.filter(({ type, data }) => type === 'tool.completed' && data.tool_name === 'once' && data.success === true);
  for (const { data } of succeeded) expect(made, JSON.stringify(data)).toContain(data.tool_call_id);
  return events.filter(({ type, data }) => data.reason === 'interrupted' || (type === 'tool.started' && Number(data.attempt) > 1)).length;
}

/**
 * Every turn has ended in exactly one receipt that says how. First the journals that the dead left in their homes are drained, as their
 * next processes would.
 */
async function assertReceipts(homes: readonly string[], databaseUrl?: string): Promise<void> {
  for (const home of homes) {
    const heir = await TestPlatform.open({ home, databaseUrl, receipts: true });
    await settleTurns(heir.service.parts, Date.now() + 1);
    await heir.keeper?.settled();
    if (home === homes.at(-1)) await assertOnePerTurn(heir);
    await heir.close();
  }
  const env = databaseUrl === undefined ? {} : { ABP_DATABASE_URL: databaseUrl };
  for (const home of homes.slice(-VERIFIED)) {
    const { code, out } = await runAbp(['receipt', 'verify', '--all', '--home', home], { env });
    // Who was killed at once has sealed nothing.
    if (!out.includes('there is no entry')) expect(code, out).toBe(0);
  }
}

async function assertOnePerTurn({ store }: TestPlatform): Promise<void> {
  const turns = await store.db.selectFrom('turns').select(['id', 'status']).orderBy('id').execute();
  const receipts = await store.db
    .selectFrom('receipts')
    .select(['run_id', 'status', 'chain'])
    .where('plane', '=', 'agent')
    .where('mode', 'is', null)
    .orderBy('run_id')
    .execute();
  expect(receipts.map((row) => [`turn_${row.run_id}`, row.status])).toEqual(turns.map((row) => [row.id, row.status]));
  expect(receipts.filter(({ chain }) => chain === null)).toEqual([]);
  expect(await store.db.selectFrom('receipts').select('run_id').where('completed_at', 'is', null).execute()).toEqual([]);
}

/** Homes of workers, of the living and the dead. */
function homesOf(parent: string): string[] {
  return readdirSync(parent)
    .filter((name) => name.startsWith('home'))
    .map((name) => join(parent, name));
}

async function killAll(): Promise<void> {
  await Promise.all(
    [...children].map((child) => {
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      return gone;
    }),
  );
}

/** Sends a session its orders one after the other and answers what is asked, always with no. */
async function drive(platform: TestPlatform, session: StoredSession, turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) {
    await platform.send(session, ORDER);
    for (;;) {
      const now = await platform.until(session, ['idle', 'waiting'], ROUND_MS);
      if (now.status === 'idle') break;
      const [approval] = await openApprovals(platform.service.parts, now);
      if (approval === undefined) continue;
      const { parts, worker } = platform.service;
      await answerApproval(parts, worker, now, { approvalId: String(approval.id), approved: false });
    }
  }
}

describe('three workers on PostgreSQL that are killed and stopped at random', () => {
  let postgres: TestPostgres;
  beforeAll(async () => {
    postgres = await startPostgres();
  });
  afterAll(() => postgres?.stop());

  /** Kills one, or stops it until others have taken its turns, again and again. */
  async function torment(workers: ChildProcess[], url: string, over: () => boolean): Promise<number> {
    let blows = 0;
    while (!over()) {
      await pause((50 + Math.random() * 250) * slower(blows));
      const at = Math.floor(Math.random() * workers.length);
      const victim = workers[at];
      if (victim === undefined) continue;
      blows += 1;
      if (Math.random() < 0.5) {
        victim.kill('SIGKILL');
        workers[at] = await startWorker(join(folder, `home-${at}-${blows}`), url);
      } else {
        victim.kill('SIGSTOP');
        await pause(200 + Math.random() * 2000);
        victim.kill('SIGCONT');
      }
    }
    return blows;
  }

  let hits = 0;
  test.each(Array.from({ length: ROUNDS }, (_, round) => round + 1))(
    'finish every turn, without a gap and without a repeated effect (round %i)',
    async () => {
      const url = await postgres.freshDatabase();
      const platform = await TestPlatform.open({ databaseUrl: url, slots: 0 });
      try {
        const workers = await Promise.all([0, 1, 2].map((at) => startWorker(join(folder, `home-${at}`), url)));
        const sessions = await Promise.all(Array.from({ length: SESSIONS }, () => platform.session()));
        let over = false;
        const torments = torment(workers, url, () => over);
        await Promise.all(sessions.map((session) => drive(platform, session, TURNS / SESSIONS)));
        over = true;
        expect(await torments).toBeGreaterThan(0);
        hits += await assertAllSound(platform, sessions);
        await killAll();
        await assertReceipts(homesOf(folder), url);
      } finally {
        await platform.close();
      }
    },
    ROUND_MS,
  );

  // A round may pass without a blow that meets a call; all of them together may not, or they would prove nothing.
  test.runIf(MANY)(needing('were hit in the middle of calls', ONLY_MANY), () => expect(hits).toBeGreaterThan(ROUNDS));

  test('leave their turns to others within 15 s', async () => {
    const url = await postgres.freshDatabase();
    const platform = await TestPlatform.open({ databaseUrl: url, slots: 0 });
    const owner = async (): Promise<string | null | undefined> =>
      (await platform.store.db.selectFrom('turns').select('owner').executeTakeFirst())?.owner;
    const victim = await startWorker(join(folder, 'home'), url);
    const session = await platform.session();
    await platform.send(session, 'wait 60000 ms');
    await expect.poll(owner).toMatch(/^worker_/);
    const rescuer = await TestPlatform.open({ databaseUrl: url, graceMs: 0 });
    try {
      victim.kill('SIGKILL');
      const killed = performance.now();
      await expect.poll(owner, { timeout: 60_000, interval: 100 }).toBe(rescuer.service.parts.workerId);
      expect(performance.now() - killed).toBeLessThan(60_000);
    } finally {
      await rescuer.close();
      await platform.close();
    }
  });
});

describe('one process on SQLite that is killed at random', () => {
  let hits = 0;
  test.each(Array.from({ length: ROUNDS }, (_, round) => round + 1))(
    'finishes every turn, without a gap and without a repeated effect (round %i)',
    async () => {
      const home = join(folder, 'home');
      // Looks and answers only: the turns belong to the child.
      const watcher = await TestPlatform.open({ home, slots: 0 });
      try {
        const sessions = await Promise.all(Array.from({ length: SESSIONS }, () => watcher.session()));
        let over = false;
        let child = await startWorker(home);
        let startMs = 0;
        const torment = (async () => {
          while (!over) {
            // On a slow machine a worker that is killed before it has done anything would never get its turns done, and one that works less
            // than it takes to start would hardly get on.
            const before = await eventCount(watcher);
            while (!over && (await eventCount(watcher)) === before) await pause(10);
            await pause(Math.random() * Math.max(600, 2 * startMs));
            child.kill('SIGKILL');
            await once(child, 'exit');
            const began = performance.now();
            child = await startWorker(home);
            startMs = performance.now() - began;
          }
        })();
        await Promise.all(sessions.map((session) => drive(watcher, session, TURNS / SESSIONS)));
        over = true;
        await torment;
        hits += await assertAllSound(watcher, sessions);
        await killAll();
        await assertReceipts([home]);
      } finally {
        await watcher.close();
      }
    },
    ROUND_MS,
  );

  test.runIf(MANY)(needing('was hit in the middle of calls', ONLY_MANY), () => expect(hits).toBeGreaterThan(ROUNDS));
});
