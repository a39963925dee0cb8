import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { openHome } from '../../src/home/home.ts';
import { openStore } from '../../src/store/database.ts';
import { setSetting } from '../../src/store/settings.ts';
import { storeSuite } from './store-suite.ts';
import { temporaryHome } from './temporary-home.ts';

const folder = mkdtempSync(join(tmpdir(), 'abp-sqlite-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

storeSuite('SQLite', () => openStore({ home: openHome({ path: join(folder, 'home') }) }));

test('the file is in WAL mode and keeps foreign keys', async () => {
  const store = await openStore({ home: openHome({ path: temporaryHome() }) });
  const pragma = async (name: string) =>
    (await sql<object>`select * from ${sql.raw(`pragma_${name}`)}`.execute(store.db)).rows.flatMap(Object.values);
  expect(await pragma('journal_mode')).toEqual(['wal']);
  expect(await pragma('synchronous')).toEqual([1]);
  expect(await pragma('foreign_keys')).toEqual([1]);
  expect(await pragma('busy_timeout')).toEqual([5000]);
  await store.close();
});

test('a database written by a newer version is refused and left as it is', async () => {
  const home = openHome({ path: temporaryHome() });
  const store = await openStore({ home });
  await sql`insert into kysely_migration (name, timestamp) values ('9999-later', '2099-01-01T00:00:00.000Z')`.execute(store.db);
  await store.close();
  await expect(openStore({ home })).rejects.toMatchObject({
    code: 'conflict',
    message: `the database ${home.databaseFile} is newer than this version of abp (it has 9999-later); upgrade abp or use another database`,
    hint: expect.stringContaining('Install the version of abp that made it'),
  });
});

test('closing twice is harmless and waits for work in progress', async () => {
  const home = openHome({ path: temporaryHome() });
  const store = await openStore({ home });
  const writing = setSetting(store, 'a', 1);
  await Promise.all([store.close(), store.close(), writing]);
  await expect(store.ping()).rejects.toThrow();
});

test('a query whose text comes again sees the tables as they are by then', async () => {
  const store = await openStore({ home: openHome({ path: temporaryHome() }) });
  onTestFinished(store.close);
  await sql`create table words (word text, extra text)`.execute(store.db);
  await sql`insert into words (word) values ('a'), ('b')`.execute(store.db);
  const everything = async () => (await sql<object>`select * from words`.execute(store.db)).rows;
  expect(await everything()).toContainEqual({ word: 'a', extra: null });
  await sql`alter table words drop column extra`.execute(store.db);
  expect(await everything()).toContainEqual({ word: 'a' });
});

test('a database URL of another kind is refused', async () => {
  const home = openHome({ path: temporaryHome() });
  await expect(openStore({ url: 'mysql://127.0.0.1/abp', home })).rejects.toMatchObject({ code: 'invalid_request' });
});
