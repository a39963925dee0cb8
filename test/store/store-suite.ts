import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { newRunId, parseRunId } from '../../src/contract/run-id.ts';
import { createKey, deleteExpiredRunKeys, findKeyByHash, isLive, listKeys, type NewKey, revokeKey } from '../../src/store/keys.ts';
import { forgetSegment, journalPosition } from '../../src/store/receipts/journal-positions.ts';
import type { StoredReceipt } from '../../src/store/receipts/receipt-columns.ts';
import { type JournalMark, saveReceipts } from '../../src/store/receipts/receipt-writer.ts';
import { getReceipt, listReceipts, type ReceiptFilter } from '../../src/store/receipts/receipts.ts';
import { deleteSetting, getSetting, setSetting } from '../../src/store/settings.ts';
import type { Store } from '../../src/store/store.ts';
import { countedRows, countRows } from '../../src/store/usage/counted-results.ts';
import { receipt, unsaved } from './receipt-fixture.ts';

const mark = (position: number) => ({ segment: 'segment-a', node: 'node_a', position });

const save = (store: Store, receipts: readonly StoredReceipt[], at: JournalMark) =>
  saveReceipts(store, { receipts: receipts.map(unsaved), mark: at });

const newKey = (changes: Partial<NewKey> = {}): NewKey => ({
  kind: 'user',
  name: 'laptop',
  hash: newRunId(),
  prefix: 'abp_1234',
  scopes: { planes: ['gateway'] },
  createdAt: 1_800_000_000_000,
  ...changes,
});

async function allPages(store: Store, filter: ReceiptFilter): Promise<StoredReceipt[]> {
  const items: StoredReceipt[] = [];
  let cursor: string | undefined;
  do {
    const page = await listReceipts(store, { ...filter, cursor });
    items.push(...page.items);
    cursor = page.next_cursor;
  } while (cursor !== undefined);
  return items;
}

/** What every home database must do, whichever it is. */
export function storeSuite(name: string, open: () => Promise<Store>): void {
  describe(`the store on ${name}`, () => {
    let store: Store;

    beforeAll(async () => {
      store = await open();
    });

    afterAll(async () => {
      await store.close();
    });

    beforeEach(async () => {
      for (const table of ['keys', 'receipts', 'journal_positions', 'settings'] as const) await store.db.deleteFrom(table).execute();
    });

    test('answers a ping', async () => {
      await expect(store.ping()).resolves.toBeUndefined();
    });

    test('undoes a transaction that throws', async () => {
      const failing = store.db.transaction().execute(async (transaction) => {
        await transaction.insertInto('settings').values({ name: 'a', value: '1' }).execute();
        throw new Error('no');
      });
      await expect(failing).rejects.toThrow('no');
      expect(await getSetting(store, 'a')).toBeUndefined();
    });

    describeReceipts(() => store);
    describeReceiptLists(() => store);
    describeKeys(() => store);
    describeSettings(() => store);
    describeCounted(() => store);
  });
}

function describeReceipts(current: () => Store): void {
  describe('receipts', () => {
    test('come back as they were saved', async () => {
      const saved = receipt({
        tags: ['team:blue', 'a "quoted" one'],
        document: { text: 'null \u0000, half \ud800, line\nbreak, \\ and "', nested: [{ deep: [1.5, null, true] }], __proto__x: {} },
      });
      await save(current(), [saved], mark(100));
      expect(await getReceipt(current(), saved.runId)).toEqual(saved);
    });

    test('keep their absent fields absent', async () => {
      const saved = receipt({ dialect: null, engine: null, model: null, mode: null, keyId: null, completedAt: null, receiptSha256: null });
      await save(current(), [saved], mark(100));
      expect(await getReceipt(current(), saved.runId)).toEqual(saved);
    });

    test('of an unknown run are undefined', async () => {
      expect(await getReceipt(current(), newRunId())).toBeUndefined();
    });

    test('accept a model name no index could hold', async () => {
      const hostile = `evil\u0000${Array.from({ length: 9000 }, (_, i) => String.fromCodePoint(0x1f300 + (i % 500))).join('')}`;
      const saved = receipt({ model: hostile, document: { model: hostile } });
      await save(current(), [saved], mark(1));
      expect((await getReceipt(current(), saved.runId))?.document).toEqual({ model: hostile });
      expect((await listReceipts(current(), { model: hostile })).items).toHaveLength(1);
    });

    test('are not replaced by an equal or smaller revision', async () => {
      const runId = newRunId();
      await save(current(), [receipt({ runId, revision: 3, status: 'completed' })], mark(1));
      await save(current(), [receipt({ runId, revision: 3, status: 'failed' })], mark(2));
      await save(current(), [receipt({ runId, revision: 2, status: 'running' })], mark(3));
      expect((await getReceipt(current(), runId))?.status).toBe('completed');
    });

    test('end at the greatest revision in whatever order and batches revisions arrive', async () => {
      const revisions = fc.array(fc.array(fc.tuple(fc.nat(2), fc.integer({ min: 1, max: 9 })), { maxLength: 6 }), { maxLength: 5 });
      await fc.assert(
        fc.asyncProperty(revisions, async (batches) => {
          const runs = [newRunId(), newRunId(), newRunId()];
          for (const batch of batches) {
            const rows = batch.map(([run, revision]) => receipt({ runId: runs[run]!, revision, document: { revision } }));
            await save(current(), rows, mark(1));
          }
          for (const [index, runId] of runs.entries()) {
            const greatest = Math.max(0, ...batches.flat().map(([run, revision]) => (run === index ? revision : 0)));
            const found = await getReceipt(current(), runId);
            expect(found?.document ?? { revision: 0 }).toEqual({ revision: greatest });
          }
        }),
        { numRuns: 40 },
      );
    });

    test('move the journal position forward only', async () => {
      expect(await journalPosition(current(), 'segment-a')).toBe(0);
      await save(current(), [receipt()], mark(500));
      await save(current(), [], mark(800));
      await save(current(), [receipt()], mark(300));
      expect(await journalPosition(current(), 'segment-a')).toBe(800);
      await forgetSegment(current(), 'segment-a');
      expect(await journalPosition(current(), 'segment-a')).toBe(0);
    });

    test('are saved with their journal position or not at all', async () => {
      const good = receipt();
      // A value of the wrong type gets past the compiler in no caller; here it makes the second row of the batch fail.
      const bad = receipt({ startedAt: null as unknown as number });
      await expect(save(current(), [good, bad], mark(900))).rejects.toThrow();
      expect(await getReceipt(current(), good.runId)).toBeUndefined();
      expect(await journalPosition(current(), 'segment-a')).toBe(0);
      await save(current(), [good], mark(900));
      expect(await getReceipt(current(), good.runId)).toEqual(good);
    });

    test('can be saved while transactions of the same process are open', async () => {
      const begun = Promise.withResolvers<void>();
      const slow = current()
        .db.transaction()
        .execute(async (transaction) => {
          await transaction.insertInto('settings').values({ name: 'slow', value: '1' }).execute();
          begun.resolve();
          await new Promise((resolve) => setTimeout(resolve, 50));
          await transaction.updateTable('settings').set({ value: '2' }).execute();
        });
      await begun.promise;
      const saved = Array.from({ length: 20 }, () => receipt());
      await Promise.all([slow, ...saved.map((one, index) => save(current(), [one], mark(index + 1)))]);
      expect((await listReceipts(current())).items).toHaveLength(20);
      expect(await getSetting(current(), 'slow')).toBe(2);
    });

    test('come in batches of thousands', async () => {
      const rows = Array.from({ length: 6000 }, (_, index) => receipt({ startedAt: 1_800_000_000_000 + index }));
      await save(current(), rows, mark(1));
      const { rows: counted } = await sql<{ total: number }>`select count(*) as total from receipts`.execute(current().db);
      expect(counted).toEqual([{ total: 6000 }]);
    });
  });
}

function describeReceiptLists(current: () => Store): void {
  describe('the list of receipts', () => {
    test('is newest first and ends without a cursor', async () => {
      const rows = [3, 1, 2].map((startedAt) => receipt({ startedAt }));
      await save(current(), rows, mark(1));
      const page = await listReceipts(current());
      expect(page.items.map((one) => one.startedAt)).toEqual([3, 2, 1]);
      expect(page).not.toHaveProperty('next_cursor');
    });

    test('gives every receipt once in the same order, whatever the page size and however many share a time', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(fc.nat(3), { maxLength: 12 }), fc.integer({ min: 1, max: 5 }), async (times, limit) => {
          await current().db.deleteFrom('receipts').execute();
          const rows = times.map((startedAt) => receipt({ startedAt }));
          await save(current(), rows, mark(1));
          const expected = rows.toSorted((a, b) => b.startedAt - a.startedAt || (a.runId < b.runId ? 1 : -1)).map((one) => one.runId);
          expect((await allPages(current(), { limit })).map((one) => one.runId)).toEqual(expected);
        }),
        { numRuns: 30 },
      );
    });

    test('does not shift when newer receipts arrive between pages', async () => {
      await save(
        current(),
        [1, 2, 3].map((startedAt) => receipt({ startedAt })),
        mark(1),
      );
      const first = await listReceipts(current(), { limit: 2 });
      await save(current(), [receipt({ startedAt: 9 })], mark(2));
      const second = await listReceipts(current(), { limit: 2, cursor: first.next_cursor });
      expect(second.items.map((one) => one.startedAt)).toEqual([1]);
    });

    test('filters by every field, alone and together', async () => {
      await save(
        current(),
        [
          receipt({ startedAt: 1, plane: 'run', engine: 'claude', model: 'opus', status: 'failed', keyId: 'key_2', tags: ['nightly'] }),
          receipt({ startedAt: 2, plane: 'run', engine: 'gemini' }),
          receipt({ startedAt: 3 }),
        ],
        mark(1),
      );
      const times = async (filter: ReceiptFilter) => (await listReceipts(current(), filter)).items.map((one) => one.startedAt);
      expect(await times({ plane: 'run' })).toEqual([2, 1]);
      expect(await times({ engine: 'claude' })).toEqual([1]);
      expect(await times({ model: 'opus' })).toEqual([1]);
      expect(await times({ status: 'completed' })).toEqual([3, 2]);
      expect(await times({ key: 'key_2' })).toEqual([1]);
      expect(await times({ tag: 'nightly' })).toEqual([1]);
      expect(await times({ since: 2 })).toEqual([3, 2]);
      expect(await times({ until: 2 })).toEqual([1]);
      expect(await times({ plane: 'run', status: 'completed', since: 1, until: 3 })).toEqual([2]);
      expect(await times({ plane: 'run', tag: 'weekly' })).toEqual([]);
      expect(await times({ unfinished: true })).toEqual([]);
      await save(current(), [receipt({ startedAt: 4, status: 'running', completedAt: null })], mark(2));
      expect(await times({ unfinished: true })).toEqual([4]);
    });

    test('finds a tag only where it is whole, in the same case', async () => {
      await save(current(), [receipt({ tags: ['Blue', 'a","b', 'c%_', '\\'] })], mark(1));
      const found = async (tag: string) => (await listReceipts(current(), { tag })).items.length;
      expect(await found('Blue')).toBe(1);
      expect(await found('a","b')).toBe(1);
      expect(await found('c%_')).toBe(1);
      expect(await found('\\')).toBe(1);
      for (const absent of ['blue', 'Blu', 'lue', 'a', 'b', ',', '', 'c', '",\n "', '%']) expect(await found(absent)).toBe(0);
    });

    test('finds any tag that was given', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(fc.string({ unit: 'binary' }), { maxLength: 4 }), fc.string({ unit: 'binary' }), async (tags, other) => {
          await current().db.deleteFrom('receipts').execute();
          await save(current(), [receipt({ tags })], mark(1));
          for (const tag of [...tags, other]) {
            const replaced = (text: string) => text.replaceAll('\u0000', '\uFFFD');
            const expected = tags.some((one) => replaced(one) === replaced(tag)) ? 1 : 0;
            expect((await listReceipts(current(), { tag })).items).toHaveLength(expected);
          }
        }),
        { numRuns: 40 },
      );
    });

    test('refuses a cursor it did not give out', async () => {
      for (const cursor of ['', 'nonsense', Buffer.from('[1]').toString('base64url'), Buffer.from('[1.5,"a"]').toString('base64url')]) {
        await expect(listReceipts(current(), { cursor })).rejects.toMatchObject({ code: 'invalid_request' });
      }
    });

    test('survives a cursor and filters that hold characters PostgreSQL refuses', async () => {
      const cursor = Buffer.from(JSON.stringify([1, '\u0000'])).toString('base64url');
      expect(await listReceipts(current(), { cursor, engine: '\u0000', tag: '\ud800', key: '\u0000' })).toEqual({ items: [] });
    });
  });
}

function describeKeys(current: () => Store): void {
  describe('keys', () => {
    test('are found by their hash with everything they were made of', async () => {
      const runId = parseRunId('0199a1b2c3d47e5f8000000000000001')!;
      const created = await createKey(
        current(),
        newKey({ kind: 'run', recording: 'digest', tags: ['ci'], expiresAt: 1_800_000_060_000, runId }),
      );
      expect(created).toMatchObject({
        kind: 'run',
        name: 'laptop',
        prefix: 'abp_1234',
        scopes: { planes: ['gateway'] },
        recording: 'digest',
        tags: ['ci'],
        createdAt: 1_800_000_000_000,
        expiresAt: 1_800_000_060_000,
        revokedAt: null,
        runId: 'run_0199a1b2c3d47e5f8000000000000001',
      });
      expect(created.id).toMatch(/^key_[0-9a-f]{32}$/);
      expect(await findKeyByHash(current(), created.hash)).toEqual(created);
      expect(await findKeyByHash(current(), 'other\u0000')).toBeUndefined();
    });

    test('that somebody put into the database or changed there are none', async () => {
      const { db } = current();
      const made = await createKey(current(), newKey());
      const row = await db.selectFrom('keys').selectAll().where('id', '=', made.id).executeTakeFirstOrThrow();
      const forged = { ...row, id: 'key_forged', hash: 'f'.repeat(64), scopes: '{"admin":true}' };
      await db.insertInto('keys').values(forged).execute();
      expect(await findKeyByHash(current(), forged.hash)).toBeUndefined();
      await db.updateTable('keys').set({ mac: null }).where('id', '=', forged.id).execute();
      expect(await findKeyByHash(current(), forged.hash)).toBeUndefined();
      // Revoked by us it stays none, and a revoked key cannot be brought back by hand.
      expect(await revokeKey(current(), forged.id, 1000)).toBe(true);
      expect(await findKeyByHash(current(), forged.hash)).toBeUndefined();
      await db.updateTable('keys').set({ scopes: '{"admin":true}' }).where('id', '=', made.id).execute();
      expect(await findKeyByHash(current(), made.hash)).toBeUndefined();
      await db.updateTable('keys').set({ scopes: row.scopes }).where('id', '=', made.id).execute();
      expect(await findKeyByHash(current(), made.hash)).toEqual(made);
      await revokeKey(current(), made.id, 1000);
      await db.updateTable('keys').set({ revoked_at: null }).where('id', '=', made.id).execute();
      expect(await findKeyByHash(current(), made.hash)).toBeUndefined();
    });

    test('with the hash of another are refused', async () => {
      const key = newKey();
      await createKey(current(), key);
      await expect(createKey(current(), key)).rejects.toMatchObject({ code: 'conflict' });
    });

    test('stop opening anything once revoked or expired', async () => {
      const key = await createKey(current(), newKey({ expiresAt: 2000 }));
      expect(isLive(key, 1999)).toBe(true);
      expect(isLive(key, 2000)).toBe(false);
      expect(await revokeKey(current(), key.id, 1000)).toBe(true);
      expect(await revokeKey(current(), key.id, 1500)).toBe(true);
      const revoked = await findKeyByHash(current(), key.hash);
      expect(revoked?.revokedAt).toBe(1000);
      expect(revoked && isLive(revoked, 1200)).toBe(false);
      expect(await revokeKey(current(), 'key_unknown\u0000', 1000)).toBe(false);
    });

    test('are listed newest first, in pages, by kind', async () => {
      for (const createdAt of [1, 2, 3]) await createKey(current(), newKey({ createdAt, name: `k${createdAt}` }));
      await createKey(current(), newKey({ kind: 'run', createdAt: 4, name: 'r4' }));
      const first = await listKeys(current(), { kind: 'user', limit: 2 });
      expect(first.items.map((key) => key.name)).toEqual(['k3', 'k2']);
      const second = await listKeys(current(), { kind: 'user', limit: 2, cursor: first.next_cursor });
      expect(second.items.map((key) => key.name)).toEqual(['k1']);
      expect(second).not.toHaveProperty('next_cursor');
      expect((await listKeys(current())).items.map((key) => key.name)).toEqual(['r4', 'k3', 'k2', 'k1']);
    });

    test('of ended runs are deleted, all others stay', async () => {
      await createKey(current(), newKey({ kind: 'run', name: 'expired', expiresAt: 1000 }));
      await createKey(current(), newKey({ kind: 'run', name: 'running', expiresAt: 1001 }));
      await createKey(current(), newKey({ kind: 'run', name: 'endless' }));
      const revoked = await createKey(current(), newKey({ kind: 'run', name: 'revoked' }));
      await revokeKey(current(), revoked.id, 900);
      await createKey(current(), newKey({ kind: 'user', name: 'old user', expiresAt: 10 }));
      expect(await deleteExpiredRunKeys(current(), 1000)).toBe(2);
      const names = (await listKeys(current())).items.map((key) => key.name);
      expect(names.toSorted()).toEqual(['endless', 'old user', 'running']);
    });
  });
}

function describeCounted(current: () => Store): void {
  test('rows of a result are counted once, whoever comes, and those that follow by who knows how many there were', async () => {
    const name = `openai /v1/files/${newRunId()}/content`;
    const claims = await Promise.all([1, 2, 3].map((at) => countRows(current(), { name, from: 0, to: 5 }, at)));
    expect(claims.filter(Boolean)).toHaveLength(1);
    expect(await countedRows(current(), name)).toBe(5);
    expect(await countRows(current(), { name, from: 0, to: 9 }, 4)).toBe(false);
    expect(await countRows(current(), { name, from: 4, to: 9 }, 5)).toBe(false);
    const further = await Promise.all([6, 7].map((at) => countRows(current(), { name, from: 5, to: 9 }, at)));
    expect(further.filter(Boolean)).toHaveLength(1);
    expect(await countedRows(current(), name)).toBe(9);
  });
}

function describeSettings(current: () => Store): void {
  test('settings are kept until replaced or deleted', async () => {
    expect(await getSetting(current(), 'head')).toBeUndefined();
    await setSetting(current(), 'head', { sequence: 7 });
    await setSetting(current(), 'head', { sequence: 8, hashes: ['a'] });
    await setSetting(current(), 'other', null);
    expect(await getSetting(current(), 'head')).toEqual({ sequence: 8, hashes: ['a'] });
    expect(await getSetting(current(), 'other')).toBeNull();
    await deleteSetting(current(), 'head');
    expect(await getSetting(current(), 'head')).toBeUndefined();
  });
}
