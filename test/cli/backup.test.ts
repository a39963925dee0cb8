import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, test } from 'vitest';
import { DatabaseSync } from '../../src/base/builtin/sqlite.ts';
import { openHome, openProcessHome } from '../../src/home/home.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { call, post } from '../support/http-call.ts';
import { ON_WINDOWS } from '../support/needs.ts';
import { freshDatabase } from '../support/postgres.ts';
import { type AbpResult, callAbp } from '../support/run-abp.ts';
import { startServe } from '../support/serve.ts';

const folder = mkdtempSync(join(tmpdir(), 'abp-backup-'));
let made = 0;
const fresh = (name: string): string => join(folder, `${++made}-${name}`);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A home and the database that its server uses. */
interface Place {
  readonly home: string;
  readonly databaseUrl?: string;
}

const onSqlite = async (): Promise<Place> => ({ home: fresh('home') });
const onPostgres = async (): Promise<Place> => ({ home: fresh('home'), databaseUrl: await freshDatabase() });

function abp({ home, databaseUrl }: Place, ...argv: string[]): Promise<AbpResult> {
  return callAbp([...argv, '--home', home], { env: databaseUrl === undefined ? {} : { ABP_DATABASE_URL: databaseUrl } });
}

const start = (place: Place): Promise<TestGateway> => startGateway({ ...place });

async function ask(url: string, key: string): Promise<{ status: number; run: string }> {
  const body = { model: 'sim-1', max_tokens: 20, messages: [{ role: 'user', content: 'Say exactly: kept' }] };
  const { status, headers } = await post(`${url}/e/sim/v1/messages`, body, ['x-abp-key', key]);
  return { status, run: String(headers['x-abp-run-id']) };
}

/** A home with a key, an agent that was talked with, receipts and recorded bodies. */
async function lived(place: Place): Promise<{ server: TestGateway; key: string; runs: string[] }> {
  const server = await start(place);
  const key = (await abp(place, 'keys', 'create', 'laptop')).out.split('\n')[0] ?? '';
  expect((await abp(place, 'agents', 'create', 'helper', '--prompt', 'Be brief.')).code).toBe(0);
  expect((await abp(place, 'chat', 'helper', '--message', 'Say exactly: hello')).code).toBe(0);
  const runs: string[] = [];
  for (let at = 0; at < 5; at += 1) runs.push((await ask(server.url, key)).run);
  return { server, key, runs };
}

describe.each([
  ['SQLite', onSqlite, onSqlite],
  ['PostgreSQL', onPostgres, onPostgres],
  ['SQLite, restored to PostgreSQL', onSqlite, onPostgres],
  ['PostgreSQL, restored to SQLite', onPostgres, onSqlite],
] as const)('a backup of a home on %s', (_, from, to) => {
  it('made while the server works brings everything back: keys, agents, bodies, and a chain that verifies', async () => {
    const [place, other, file] = [await from(), await to(), fresh('backup.tar.gz')];
    const { server, key, runs } = await lived(place);
    const working = { stop: false };
    const calls = (async () => {
      while (!working.stop) await ask(server.url, key);
    })();
    const backup = await abp(place, 'backup', file, '--json');
    working.stop = true;
    await calls;
    const token = server.token;
    await server.close();
    expect([backup.code, backup.err]).toEqual([0, '']);
    expect(JSON.parse(backup.out)).toMatchObject({ file, database: place.databaseUrl === undefined ? 'sqlite' : 'postgres', left_out: [] });
    if (ON_WINDOWS === undefined) expect(statSync(file).mode & 0o777).toBe(0o600);

    const restored = await abp(other, 'restore', file);
    expect([restored.code, restored.out]).toEqual([0, expect.stringContaining(`${other.home}: `)]);
    // The restored home knows its database before it was served.
    expect(await abp(other, 'backup', fresh('at-once.tar.gz'))).toMatchObject({ code: 0, err: '' });
    const again = await start(other);
    try {
      expect([again.token, again.gateway.home.nodeId]).toEqual([token, server.gateway.home.nodeId]);
      const later = await ask(again.url, key);
      expect(later.status).toBe(200);
      for (const run of [...runs, later.run])
        expect((await call(`${again.url}/v1/receipts/${run}?wait=60`, { headers: ['x-abp-key', token] })).status).toBe(200);
      const verified = await abp(other, 'receipts', 'verify', '--all', '--json');
      expect([verified.code, JSON.parse(verified.out).ok]).toEqual([0, true]);
      expect((await abp(other, 'agents', 'list')).out).toContain('helper');
      expect((await abp(other, 'agents', 'sessions')).out).toContain('session_');
      const recorded = await abp(other, 'recordings', 'export', '--run', runs[0] ?? '');
      expect([recorded.code, recorded.out]).toEqual([0, expect.stringContaining('Say exactly: kept')]);
      expect(JSON.parse(String((await call(`${again.url}/readyz`)).body)).status).toBe('ready');
      expect(again.logs()).not.toContain('are gone from the database');
    } finally {
      await again.close();
    }
    // And the way back, with what was called there.
    const [back, second] = [await from(), fresh('second.tar.gz')];
    expect(await abp(other, 'backup', second)).toMatchObject({ code: 0, err: '' });
    expect((await abp(back, 'restore', second)).code).toBe(0);
    const verified = [other, back].map(async (one) => JSON.parse((await abp(one, 'receipts', 'verify', '--all', '--json')).out));
    const [there, here] = await Promise.all(verified);
    expect([here.ok, here.receipts]).toEqual([true, there.receipts]);
  });

  it('keeps what the home knew of the end of its chain, in the place that belongs to the database', async () => {
    const [place, other, file] = [await from(), await to(), fresh('backup.tar.gz')];
    const { server } = await lived(place);
    await server.close();
    // Of another database that the home had once.
    for (const strange of ['head-postgres-once.json', 'head-sqlite.newest'].map((one) => join(place.home, 'seal-keys', one))) {
      if (existsSync(strange)) continue;
      writeFileSync(strange, '{}');
      utimesSync(strange, 0, 0);
    }
    expect((await abp(place, 'backup', file)).code).toBe(0);
    expect((await abp(other, 'restore', file)).code).toBe(0);
    const name = other.databaseUrl === undefined ? 'head-sqlite' : `head-postgres-${new URL(other.databaseUrl).pathname.slice(1)}`;
    const heads = readdirSync(join(other.home, 'seal-keys')).filter((one) => one.startsWith('head-'));
    expect(heads.map((one) => one.replace(/\.\w+$/, ''))).toEqual(heads.map(() => name));
    expect(heads).toContain(`${name}.newest`);
    // Entries that are taken off the end of the restored chain are missed.
    if (other.databaseUrl !== undefined) return;
    const database = new DatabaseSync(join(other.home, 'abp.db'));
    database.exec('pragma foreign_keys = off');
    database.exec('delete from receipts');
    database.close();
    expect((await abp(other, 'receipts', 'verify', '--all', '--json')).code).not.toBe(0);
  });
});

describe('abp restore', () => {
  test('refuses a home that holds something, one that is served, and sets aside what is there with --force', async () => {
    const [place, other, file] = [await onSqlite(), await onSqlite(), fresh('backup.tar.gz')];
    const { server } = await lived(place);
    expect((await abp(place, 'backup', file)).code).toBe(0);
    expect(await abp(place, 'restore', file, '--force')).toMatchObject({
      code: 1,
      err: expect.stringContaining('a server works on the home'),
    });
    await server.close();
    const second = await start(other);
    await second.close();
    expect(await abp(other, 'restore', file)).toMatchObject({
      code: 1,
      err: expect.stringMatching(/is not empty: it has .*\nhint: .*--force/),
    });
    const before = readFileSync(join(other.home, 'token'), 'utf8');
    const forced = await abp(other, 'restore', file, '--force', '--json');
    expect([forced.code, forced.err]).toEqual([0, '']);
    const aside = JSON.parse(forced.out).before;
    expect(readFileSync(join(aside, 'token'), 'utf8')).toBe(before);
    expect(readFileSync(join(other.home, 'token'), 'utf8')).toBe(readFileSync(join(place.home, 'token'), 'utf8'));
    // A backup of that home does not take along what was set aside.
    const next = await abp(other, 'backup', fresh('next.tar.gz'), '--json');
    expect(JSON.parse(next.out).left_out).toEqual([expect.stringMatching(/^before-restore-/)]);
  });

  test('takes nothing of a file that is cut off, changed, or no backup', async () => {
    const [place, file] = [await onSqlite(), fresh('backup.tar.gz')];
    const { server } = await lived(place);
    await server.close();
    expect((await abp(place, 'backup', file)).code).toBe(0);
    const whole = readFileSync(file);
    const text = fresh('text');
    writeFileSync(text, 'no backup\n');
    for (const [name, change] of [
      ['cut', () => truncateSync(file, whole.length - 200)],
      ['cut in the middle', () => truncateSync(file, Math.floor(whole.length / 2))],
      ['changed', () => writeFileSync(file, Buffer.concat([whole.subarray(0, 5000), Buffer.from('xx'), whole.subarray(5002)]))],
    ] as const) {
      writeFileSync(file, whole);
      change();
      const other = await onSqlite();
      const { code, err } = await abp(other, 'restore', file);
      expect([name, code, err]).toEqual([name, 2, expect.stringContaining('this is no whole backup of abp')]);
      expect([name, existsSync(other.home)]).toEqual([name, false]);
    }
    expect((await abp(await onSqlite(), 'restore', text)).err).toContain('this is no whole backup of abp');
    expect(await abp(await onSqlite(), 'restore', fresh('none'))).toMatchObject({
      code: 3,
      err: expect.stringContaining('there is no file'),
    });
  });
});

test('the chains of several processes verify after they were restored to SQLite, and what a journal held becomes receipts there', async () => {
  const [place, other, file] = [await onPostgres(), await onSqlite(), fresh('backup.tar.gz')];
  const first = await start(place);
  const second = await start({ ...place, home: openProcessHome(openHome({ path: place.home }), 2).path });
  for (const { url, token } of [first, second, first, second]) expect((await ask(url, token)).status).toBe(200);
  expect((await abp(place, 'backup', file)).code).toBe(0);
  for (const server of [second, first]) await server.close();
  expect((await abp(other, 'restore', file)).code).toBe(0);
  const served = await startServe(other.home);
  await served.end('SIGTERM');
  const { code, out } = await abp(other, 'receipts', 'verify', '--all', '--json');
  const { processes } = JSON.parse(out);
  expect([code, processes.map((one: { process: number; ok: boolean; receipts: number }) => [one.process, one.ok, one.receipts])]).toEqual([
    0,
    [
      [1, true, 2],
      [2, true, 2],
    ],
  ]);
});

test('a file that is cut off takes nothing from a PostgreSQL database, also with --force', async () => {
  const [place, other, file] = [await onSqlite(), await onPostgres(), fresh('backup.tar.gz')];
  for (const one of [place, other]) await (await lived(one)).server.close();
  expect((await abp(place, 'backup', file)).code).toBe(0);
  truncateSync(file, statSync(file).size - 200);
  const token = readFileSync(join(other.home, 'token'), 'utf8');
  expect((await abp(other, 'restore', file, '--force')).code).toBe(2);
  expect(readFileSync(join(other.home, 'token'), 'utf8')).toBe(token);
  const verified = await abp(other, 'receipts', 'verify', '--all', '--json');
  expect([verified.code, JSON.parse(verified.out).ok]).toEqual([0, true]);
  expect((await abp(other, 'receipts', 'list')).out).toContain('run_');
});

describe('abp backup', () => {
  test('refuses to replace a file, and leaves nothing half made', async () => {
    const [place, file] = [await onSqlite(), fresh('backup.tar.gz')];
    await (await start(place)).close();
    writeFileSync(file, 'mine');
    expect(await abp(place, 'backup', file)).toMatchObject({ code: 2, err: expect.stringContaining('is there already') });
    expect(readFileSync(file, 'utf8')).toBe('mine');
    expect((await abp(place, 'backup', file, '--force')).code).toBe(0);
    expect(readdirSync(folder).filter((name) => name.endsWith('.partial'))).toEqual([]);
    expect(await abp({ home: fresh('nowhere') }, 'backup', fresh('x'))).toMatchObject({
      code: 3,
      err: expect.stringContaining('there is no home'),
    });
  });

  test('notices that the server used another database than this command would look at', async () => {
    const place = await onPostgres();
    const { server } = await lived(place);
    await server.close();
    const { code, err } = await abp({ home: place.home }, 'backup', fresh('x'));
    expect([code, err]).toEqual([7, expect.stringMatching(/last used the PostgreSQL database "test_\d+".*\nhint: .*ABP_DATABASE_URL/)]);
    // Commands that only look find nothing there, and say why.
    for (const words of [
      ['receipts', 'list'],
      ['agents', 'list'],
      ['recordings', 'list'],
    ])
      expect((await abp({ home: place.home }, ...words)).err).toMatch(
        /^note: the server of .* last used the PostgreSQL database "test_\d+".*ABP_DATABASE_URL/,
      );
  });
});
