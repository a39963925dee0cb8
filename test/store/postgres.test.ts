import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { openHome } from '../../src/home/home.ts';
import { openStore } from '../../src/store/database.ts';
import { MIGRATIONS } from '../../src/store/migrations.ts';
import { createChain } from '../../src/store/receipts/chain.ts';
import { freshDatabase } from '../support/postgres.ts';
import { endChildren, startChild } from './children.ts';
import { storeSuite } from './store-suite.ts';
import { temporaryHome } from './temporary-home.ts';

const folder = mkdtempSync(join(tmpdir(), 'abp-postgres-home-'));

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
});

afterEach(endChildren);

const home = () => openHome({ path: temporaryHome() });

storeSuite('PostgreSQL', async () => openStore({ url: await freshDatabase(), home: openHome({ path: join(folder, 'home') }) }));

describe('PostgreSQL', () => {
  test('is migrated once by processes that start at the same moment', async () => {
    const url = await freshDatabase();
    const path = temporaryHome();
    const children = await Promise.all([1, 2, 3].map(() => startChild({ home: path, url, command: 'open' })));
    for (const child of children) child.go();
    expect(await Promise.all(children.map((child) => child.ended()))).toEqual([0, 0, 0]);
    for (const child of children) expect(child.lines).toContain('pg loaded');
    const store = await openStore({ url, home: home() });
    const { rows } = await sql<{ name: string }>`select name from kysely_migration`.execute(store.db);
    expect(rows.map((row) => row.name)).toEqual(Object.keys(MIGRATIONS));
    await store.close();
  });

  test('gives nodes that start at the same moment a chain each', async () => {
    const url = await freshDatabase();
    const stores = await Promise.all(Array.from({ length: 8 }, () => openStore({ url, home: home() })));
    const made = await Promise.all(
      stores.map((store, at) => createChain(store, `node_${at}`, { id: `key_${at}`, publicKey: '', createdAt: at })),
    );
    expect(made.map(({ number }) => number).toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    for (const store of stores) await store.close();
  });

  test('written by a newer version is refused without showing the password', async () => {
    const url = await freshDatabase();
    const store = await openStore({ url, home: home() });
    await sql`insert into kysely_migration (name, timestamp) values ('9999-later', '2099-01-01T00:00:00.000Z')`.execute(store.db);
    await store.close();
    const { host, pathname } = new URL(url);
    await expect(openStore({ url, home: home() })).rejects.toMatchObject({
      code: 'conflict',
      message: `the database postgres://${host}${pathname} is newer than this version of abp (it has 9999-later); upgrade abp or use another database`,
    });
  });

  test('that cannot be reached is named without its password', async () => {
    const opening = openStore({ url: 'postgres://user:secret@127.0.0.1:1/abp', home: home() });
    await expect(opening).rejects.toThrow('the database postgres://127.0.0.1:1/abp cannot be reached');
    await expect(opening).rejects.not.toThrow('secret');
  });

  test('may drop our connections without ending the process', async () => {
    const url = await freshDatabase();
    const store = await openStore({ url, home: home() });
    const other = await openStore({ url, home: home() });
    const dropped = sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`;
    expect((await dropped.execute(other.db)).rows.length).toBeGreaterThan(0);
    await expect
      .poll(() =>
        store.ping().then(
          () => 'up',
          () => 'down',
        ),
      )
      .toBe('up');
    await store.close();
    await other.close();
  });

  test('may drop a connection in the middle of a transaction without ending the process', async () => {
    const url = await freshDatabase();
    const store = await openStore({ url, home: home() });
    const broken = store.db.transaction().execute(async (transaction) => {
      const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(transaction);
      await sql`select pg_terminate_backend(${rows[0]?.pid})`.execute(store.db);
      // Long enough for the news to arrive while nothing is asked.
      await new Promise((resolve) => setTimeout(resolve, 200));
      await sql`select 1`.execute(transaction);
    });
    await expect(broken).rejects.toThrow();
    await store.ping();
    await store.close();
  });
});
