import { sql } from 'kysely';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RunId } from '../../src/contract/run-id.ts';
import { newRunId } from '../../src/contract/run-id.ts';
import { KeeperTasks } from '../../src/receipts/keeper/keeper-tasks.ts';
import { TableParts } from '../../src/receipts/keeper/table-parts.ts';
import { Followers } from '../../src/receipts/usage/followers.ts';
import { verifyRun, verifyStored } from '../../src/receipts/verify/verify-stored.ts';
import { listParts } from '../../src/store/databases/parts.ts';
import { openPostgres } from '../../src/store/databases/postgres.ts';
import { prepareParts } from '../../src/store/databases/prepare-parts.ts';
import { chainOf } from '../../src/store/receipts/chain.ts';
import { runKey } from '../../src/store/receipts/receipt-columns.ts';
import { saveReceipts } from '../../src/store/receipts/receipt-writer.ts';
import { getReceipt, listReceipts } from '../../src/store/receipts/receipts.ts';
import { dayAt, dayOfRun } from '../../src/store/receipts/run-days.ts';
import type { PostgresStore, Store } from '../../src/store/store.ts';
import { receipt, runAt, unsaved } from '../store/receipt-fixture.ts';
import { startGateway } from '../support/gateway.ts';
import { post } from '../support/http-call.ts';
import { freshDatabase } from '../support/postgres.ts';
import { receiptOf } from '../support/receipt-of.ts';
import { ORIGIN, type SealedHome, sealedHome } from './sealed-home.ts';

const DAY_MS = 24 * 3600 * 1000;

function postgres(store: Pick<Store, 'kind'>): PostgresStore {
  if (store.kind !== 'postgres') throw new Error('no PostgreSQL');
  return store as PostgresStore; // the kind says so
}

/** In which part of the table each run is. */
async function partsOf({ db }: Pick<Store, 'db'>): Promise<Record<string, string[]>> {
  const { rows } = await sql<{
    part: string;
    run_id: string;
  }>`select tableoid::regclass::text as part, run_id from receipts order by run_id`.execute(db);
  return Object.fromEntries(
    [...Map.groupBy(rows, ({ part }) => part)].map(([part, all]) => [part, all.map(({ run_id }) => `run_${run_id}`)]),
  );
}

/** What retention removes in turns of half a second, to its end: on a busy machine that is more than one. */
function retaining(surroundings: ConstructorParameters<typeof KeeperTasks>[0]): Pick<KeeperTasks, 'run'> {
  const tasks = new KeeperTasks(surroundings);
  return {
    run: async () => {
      do await tasks.run();
      while (tasks.isBehind);
    },
  };
}

describe('receipts on PostgreSQL', () => {
  let home: SealedHome;
  beforeEach(async () => {
    home = await sealedHome(await freshDatabase());
  });
  afterEach(() => home.close());

  const verify = async () => await verifyStored(home.store, await chainOf(home.store, ORIGIN.node));
  const tasks = (parts: TableParts, days: { retentionDays?: number; deletionDays?: number }): ReturnType<typeof retaining> =>
    retaining({
      ...{ store: home.store, chain: home.chain, keysFolder: home.keysFolder, parts, report: () => undefined },
      ...{ bodies: { erase: async () => 0 }, followers: new Followers(home.store, home.chain.number) },
      ...{ retentionDays: days.retentionDays, deletionDays: days.deletionDays },
    });

  it('are kept by day, and a day is dropped as a whole once its receipts are stubs, which stay in the chain', async () => {
    const now = Date.now();
    const parts = new TableParts(home.store, 30);
    await parts.look(now - 40 * DAY_MS);
    await parts.look(now);
    const old = [now - 40 * DAY_MS, now - 39 * DAY_MS].map(runAt);
    for (const run of old) {
      const at = now - 39 * DAY_MS;
      await home.sealRuns([run], { at, keyId: 'key_1' }, { at: at + 1 });
    }
    const young = await home.seal(2, { at: now }, { at: now + 1 });
    const names = (await listParts(postgres(home.store), 'receipts')).map(({ name }) => name);
    const dayName = (time: number): string => `receipts_${new Date(time).toISOString().slice(0, 10).replaceAll('-', '')}`;
    expect(await partsOf(home.store)).toEqual({
      [dayName(now - 40 * DAY_MS)]: [old[0]],
      [dayName(now - 39 * DAY_MS)]: [old[1]],
      [dayName(now)]: young.toSorted(),
    });
    await tasks(parts, { retentionDays: 30 }).run();
    expect(await partsOf(home.store)).toEqual({ receipts_kept: old, [dayName(now)]: young.toSorted() });
    const left = (await listParts(postgres(home.store), 'receipts')).map(({ name }) => name);
    // Every part of the eight days of before is gone; those of today and later are there.
    expect(names.filter((name) => !left.includes(name))).toEqual(Array.from({ length: 8 }, (_, day) => dayName(now - (40 - day) * DAY_MS)));
    expect(await verify()).toMatchObject({ ok: true, receipts: 2, removed: 2 });
    for (const run of old) {
      expect(await getReceipt(home.store, run)).toMatchObject({ status: 'archived', engine: 'sim', keyId: null });
      expect(await verifyRun(home.store, run)).toMatchObject({ ok: true });
    }
    expect((await listReceipts(home.store)).items.map(({ runId }) => runId)).toEqual([...young.toSorted().reverse(), ...old.toReversed()]);
    await tasks(parts, { deletionDays: 30 }).run();
    expect((await getReceipt(home.store, old[0] ?? expect.fail()))?.engine).toBeNull();
    expect(await verify()).toMatchObject({ ok: true, removed: 2 });
  });

  it('keep the part of a day while a receipt of it is whole, or its run has not ended', async () => {
    const now = Date.now();
    const parts = new TableParts(home.store, 30);
    await parts.look(now - 40 * DAY_MS);
    const [ended, late] = [runAt(now - 40 * DAY_MS), runAt(now - 40 * DAY_MS + 1)];
    await home.sealRuns([ended], { at: now - 40 * DAY_MS }, { at: now - 40 * DAY_MS });
    await home.sealRuns([late], { at: now - 40 * DAY_MS }, { at: now });
    await tasks(parts, { retentionDays: 30 }).run();
    const { receipts_kept: kept, ...rest } = await partsOf(home.store);
    expect([kept, Object.values(rest)]).toEqual([[ended], [[late]]]);
    expect((await listParts(postgres(home.store), 'receipts')).length).toBe(2);
  });

  it('wait in the part for the rest until somebody makes the part of their day', async () => {
    const [run = expect.fail()] = await home.seal(1);
    const [open = expect.fail()] = await home.begin(1);
    expect(await partsOf(home.store)).toEqual({ receipts_rest: [run, open].toSorted() });
    await new TableParts(home.store, undefined).look();
    const [[name = '', runs] = []] = Object.entries(await partsOf(home.store));
    expect([name.startsWith('receipts_2'), runs]).toEqual([true, [run, open].toSorted()]);
    await home.end(open);
    expect((await listReceipts(home.store)).items).toHaveLength(2);
    expect(await verify()).toMatchObject({ ok: true, receipts: 2 });
  });

  it('get parts again after a clock that was ahead was set right', async () => {
    const parts = new TableParts(home.store, 1);
    const today = dayAt(Date.now());
    await parts.look(Date.now() + 365 * DAY_MS);
    await parts.look();
    const made = await listParts(postgres(home.store), 'receipts');
    for (let day = today; day <= today + 7; day += 1) expect(made.filter(({ from, to }) => from <= day && day < to)).toHaveLength(1);
  });

  it('get their parts once from nodes that look at the same moment, and none twice', async () => {
    const looks = [1, 7, 100, 1000].map((days) => new TableParts(home.store, days).look());
    await Promise.all(looks);
    await new TableParts(home.store, 1).look();
    const parts = await listParts(postgres(home.store), 'receipts');
    const today = dayAt(Date.now());
    for (let day = today; day <= today + 7; day += 1) expect(parts.filter(({ from, to }) => from <= day && day < to)).toHaveLength(1);
    const usage = await listParts(postgres(home.store), 'usage_rollups');
    expect(usage.filter(({ from, to }) => from <= Date.now() && Date.now() < to)).toHaveLength(1);
  });
});

describe.each([
  ['is prepared while others write', true],
  ['is small', false],
])('a database of the version before that %s', (_, prepared) => {
  it('is divided without a change of what is in it, and runs under way end in their own row', async () => {
    const url = await freshDatabase();
    const old = await openPostgres(url, { upTo: '0017-receipt-marks' });
    const insert = (run: RunId, ended: number | null, sequence: number | null): Promise<unknown> =>
      sql`insert into receipts (run_id, revision, plane, status, started_at, completed_at, tags, document, chain, sequence)
        values (${runKey(run)}, 1, 'gateway', ${ended === null ? 'running' : 'completed'}, 1800000000000, ${ended}, '[]', '{"a":1}', 1, ${sequence})
        on conflict (run_id) do nothing`.execute(old.db);
    const ended = [newRunId(), newRunId(), newRunId()];
    for (const [at, run] of ended.entries()) await insert(run, 1_800_000_000_001 + at, at + 1);
    const open = newRunId();
    await insert(open, null, null);
    await sql`insert into usage_rollups (span, start, chain, facets, engine, model, key_id, agent, status, mode, error, tags, first_byte, total, calls)
      select 'd', start, 1, 'f', '', '', '', '', '', '', '', '[]', '', '', 1 from unnest(array[0, 4102444800000]) as start`.execute(old.db);
    if (prepared) {
      const pool = new pg.Pool({ connectionString: url });
      const written = newRunId();
      await Promise.all([prepareParts(pool, 0), prepareParts(pool, 0), insert(written, 1_800_000_000_009, 4)]);
      await insert(written, 1, 4);
      ended.push(written);
      await pool.end();
    }
    await old.close();
    const store = await openPostgres(url);
    try {
      const { receipts_kept: kept, ...rest } = await partsOf(store);
      expect([kept, rest]).toEqual([ended.toSorted(), { receipts_rest: [open] }]);
      expect(dayOfRun(runKey(open))).toBe(dayAt(Date.now()));
      const full = { ...store, keySecret: undefined } as unknown as Store; // receipts are read without it
      await saveReceipts(full, {
        receipts: [unsaved(receipt({ runId: open, revision: 2, status: 'completed' }))],
        mark: { segment: 's', node: 'n', position: 1 },
      });
      expect(await getReceipt(full, open)).toMatchObject({ revision: 2, status: 'completed' });
      expect((await listReceipts(full)).items).toHaveLength(ended.length + 1);
      const sums = await sql<{
        part: string;
        start: string;
      }>`select tableoid::regclass::text as part, start::text from usage_rollups order by start`.execute(store.db);
      expect(sums.rows).toEqual([
        { part: 'usage_rollups_before', start: '0' },
        { part: 'usage_rollups_rest', start: '4102444800000' },
      ]);
    } finally {
      await store.close();
    }
  });
});

it('a server whose user may make no tables keeps receipts in the part for the rest, and sums usage', async () => {
  const databaseUrl = await freshDatabase();
  const owner = await openPostgres(databaseUrl);
  const user = `user_${newRunId().slice(-12)}`;
  for (const statement of [
    `create role ${user} login password 'test'`,
    `grant select, insert, update, delete on all tables in schema public to ${user}`,
    `grant usage, select on all sequences in schema public to ${user}`,
  ])
    await sql.raw(statement).execute(owner.db);
  const url = new URL(databaseUrl);
  url.username = user;
  const gateway = await startGateway({ databaseUrl: url.href });
  try {
    const { headers } = await post(`${gateway.url}/e/sim/v1/messages`, {
      model: 'sim-1',
      max_tokens: 9,
      messages: [{ role: 'user', content: 'hi' }],
    });
    const { run_id: run } = await receiptOf(gateway.url, headers['x-abp-run-id']);
    expect(await partsOf(owner)).toEqual({ receipts_rest: [run] });
    const sums = async (): Promise<number> => (await owner.db.selectFrom('usage_rollups').select('calls').execute()).length;
    await expect.poll(sums, { timeout: 60_000 }).toBeGreaterThan(0);
  } finally {
    await gateway.close();
    await sql.raw(`drop owned by ${user}`).execute(owner.db);
    await sql.raw(`drop role ${user}`).execute(owner.db);
    await owner.close();
  }
});

it('a server on PostgreSQL makes the parts of the days to come and writes to them', async () => {
  const databaseUrl = await freshDatabase();
  const gateway = await startGateway({ databaseUrl, config: { receipts: { retention_days: 30 } } });
  const store = await openPostgres(databaseUrl);
  try {
    const { headers } = await post(`${gateway.url}/e/sim/v1/messages`, {
      model: 'sim-1',
      max_tokens: 9,
      messages: [{ role: 'user', content: 'hi' }],
    });
    const { run_id: run } = await receiptOf(gateway.url, headers['x-abp-run-id']);
    const day = new Date(dayOfRun(runKey(run as RunId)) * DAY_MS).toISOString().slice(0, 10).replaceAll('-', '');
    expect(await partsOf(store)).toEqual({ [`receipts_${day}`]: [run] });
    const { rows } = await sql<{
      many: number;
    }>`select count(*)::int as many from pg_inherits where inhparent = 'receipts'::regclass`.execute(store.db);
    expect(rows[0]?.many).toBe(10); // eight days, stubs, the rest
  } finally {
    await store.close();
    await gateway.close();
  }
});
