import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Kysely, sql } from 'kysely';
import { afterAll, describe, expect, test } from 'vitest';
import { openSnapshot, openTarget } from '../../src/store/backup/open.ts';
import { parentsFirst, type Row, type Snapshot } from '../../src/store/backup/snapshot.ts';
import { openPostgres } from '../../src/store/databases/postgres.ts';
import { openSqlite } from '../../src/store/databases/sqlite.ts';
import { MIGRATIONS } from '../../src/store/migrations.ts';
import type { Tables } from '../../src/store/schema.ts';
import { freshDatabase } from '../support/postgres.ts';

const folder = mkdtempSync(join(tmpdir(), 'abp-backup-'));
let files = 0;
const freshFile = (): string => join(folder, `${++files}.db`);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const STEPS = Object.keys(MIGRATIONS);

type Place = { readonly url: string | undefined; readonly file: string };
const PLACES: readonly (readonly [name: string, make: () => Promise<Place>])[] = [
  ['SQLite', async () => ({ url: undefined, file: freshFile() })],
  ['PostgreSQL', async () => ({ url: await freshDatabase(), file: '' })],
];

async function opened({ url, file }: Place, upTo?: string): Promise<{ db: Kysely<Tables>; close(): Promise<void> }> {
  const options = upTo === undefined ? {} : { upTo };
  return url === undefined ? await openSqlite(file, options) : await openPostgres(url, options);
}

/** Rows that every step of the schema has a place for, with texts that are hard to write down. */
async function fill(db: Kysely<Tables>): Promise<void> {
  await sql`insert into settings (name, value) values ('hard', ${'"quotes", \\ and\nlines, ä € 🙂 \u2028'})`.execute(db);
  for (let at = 0; at < 600; at += 1)
    await sql`insert into receipts (run_id, revision, plane, status, started_at, tags, document)
      values (${`run-${at}`}, ${at}, 'gateway', 'completed', ${1_800_000_000_000 + at}, '[]', ${`{"at":${at}}`})`.execute(db);
}

async function contentOf(snapshot: Snapshot): Promise<Record<string, Row[]>> {
  const content: Record<string, Row[]> = {};
  for (const { name, batches } of snapshot.tables) {
    const rows: Row[] = [];
    for await (const batch of batches()) rows.push(...batch);
    content[name] = rows.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  }
  await snapshot.close();
  return content;
}

async function copy(from: Place, to: Place, force = false): Promise<void> {
  const snapshot = await openSnapshot(from);
  const { migrations, tables } = snapshot;
  const target = await openTarget(to, { migrations, tables: tables.map(({ name }) => name), force });
  try {
    for (const { name, columns, batches } of tables) for await (const rows of batches()) await target.insert(name, columns, rows);
    await target.finish();
  } catch (error) {
    await target.abort();
    throw error;
  } finally {
    await snapshot.close();
  }
}

describe.each(PLACES)('a database on %s', (_, make) => {
  test.each(PLACES)('is the same on %s after its way through a backup', async (_other, makeOther) => {
    const [from, to] = [await make(), await makeOther()];
    const { db, close } = await opened(from);
    await fill(db);
    await close();
    await copy(from, to);
    const [before, after] = [await contentOf(await openSnapshot(from)), await contentOf(await openSnapshot(to))];
    expect(Object.keys(after).sort()).toEqual(Object.keys(before).sort());
    expect(after).toEqual(before);
    expect(before.receipts).toHaveLength(600);
  });

  test('shows one moment, whatever is written meanwhile', async () => {
    const place = await make();
    const { db, close } = await opened(place);
    await fill(db);
    const snapshot = await openSnapshot(place);
    await sql`delete from receipts`.execute(db);
    await sql`insert into settings (name, value) values ('later', '1')`.execute(db);
    const { receipts, settings } = await contentOf(snapshot);
    expect([receipts?.length, settings?.length]).toEqual([600, 1]);
    await close();
  });

  test('of any earlier version is brought up to date with its rows', async () => {
    // Each step is a database on PostgreSQL: two of them tell as much there.
    const steps = (await make()).url === undefined ? STEPS : STEPS.slice(0, 1);
    for (const step of steps) {
      const [from, to] = [await make(), await make()];
      const old = await opened(from, step);
      await fill(old.db);
      await old.close();
      await copy(from, to);
      const restored = await openSnapshot(to);
      expect(restored.migrations).toEqual(STEPS);
      const { receipts, settings } = await contentOf(restored);
      expect([step, receipts?.length, settings?.length]).toEqual([step, 600, 1]);
      // The start of a server takes the same steps in place.
      const inPlace = await opened(from);
      const { rows } = await sql<{ count: number }>`select count(*) as count from receipts`.execute(inPlace.db);
      expect([step, Number(rows[0]?.count)]).toEqual([step, 600]);
      await inPlace.close();
    }
  });

  test('of a newer version is refused', async () => {
    const [from, to] = [await make(), await make()];
    const { db, close } = await opened(from);
    await sql`insert into kysely_migration (name, timestamp) values ('9999-later', '2099-01-01T00:00:00.000Z')`.execute(db);
    await close();
    await expect(copy(from, to)).rejects.toMatchObject({
      code: 'conflict',
      message: 'the backup was made by a newer version of abp (its database has 9999-later)',
    });
  });
});

test('a PostgreSQL database that holds something, or that is used, is not overwritten', async () => {
  const [from, to] = [
    { url: await freshDatabase(), file: '' },
    { url: await freshDatabase(), file: '' },
  ];
  for (const place of [from, to]) {
    const { db, close } = await opened(place);
    await fill(db);
    await close();
  }
  await expect(copy(from, to)).rejects.toMatchObject({ code: 'conflict', message: expect.stringMatching(/is not empty: \w+ has rows$/) });
  const running = await opened(to);
  await expect(copy(from, to, true)).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringContaining('is used by running backplanes'),
  });
  await running.close();
  await copy(from, to, true);
  expect(await contentOf(await openSnapshot(to))).toEqual(await contentOf(await openSnapshot(from)));
});

test('parents come before those that refer to them, also in a circle', () => {
  const parents: Record<string, string[]> = { a: ['b'], b: ['c'], c: [], d: ['d', 'a'], e: ['f'], f: ['e'] };
  expect(parentsFirst(['a', 'b', 'c', 'd', 'e', 'f'], (name) => parents[name] ?? [])).toEqual(['c', 'b', 'a', 'd', 'f', 'e']);
});
