import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { UsageQuery } from '../../src/gateway/api/run-rows.ts';
import { usageOf } from '../../src/gateway/rows/usage.ts';
import { RollUp } from '../../src/receipts/usage/roll-up.ts';
import { spentSince } from '../../src/receipts/usage/spent.ts';
import type { Store } from '../../src/store/store.ts';
import { forgetInRollups, rolledUpTo, saveRollups } from '../../src/store/usage/rollups.ts';
import { insertSealed, type SaidCall, sealedCall } from './calls.ts';

const HOUR = 3_600_000;
/** A Tuesday morning; questions about the past have an end. */
const START = Date.UTC(2026, 9, 20, 6, 30);

/** What holds for sums of usage, whichever database they are in. */
export function usageSuite(database: string, open: () => Promise<Store>): void {
  describe(`usage on ${database}`, () => {
    let store: Store;
    beforeEach(async () => {
      store = await open();
    });
    afterEach(() => store.close());

    const ask = (query: object) =>
      usageOf(
        store,
        UsageQuery.parse({ since: new Date(START).toISOString(), until: new Date(START + 60 * HOUR).toISOString(), ...query }),
        {},
      );
    const insert = (calls: readonly SaidCall[]): Promise<void> =>
      insertSealed(
        store,
        calls.map((call, at) => sealedCall(call, at + 1)),
      );
    const rollUp = (): Promise<boolean> => new RollUp(store, 1).step();

    const CALLS: readonly SaidCall[] = [
      { at: START + 10, engine: 'claude', keyId: 'k1', nanoUsd: 1000, tags: ['blue', 'web'], firstByteMs: 10 },
      { at: START + HOUR, engine: 'claude', keyId: 'k2', nanoUsd: 3000, firstByteMs: 1000 },
      { at: START + 30 * HOUR, engine: 'sim', keyId: null, mode: 'mapped', firstByteMs: 40 },
      { at: START + 31 * HOUR, engine: 'sim', status: 'failed', error: 'E007', tokens: null },
      { at: START + 31 * HOUR, engine: 'sim', status: 'failed', error: 'E001', tokens: null, tags: ['blue'] },
      { at: START + 31 * HOUR, plane: 'run', mode: null, engine: 'sim', nanoUsd: 99_999 },
      { at: START + 32 * HOUR, plane: 'agent', mode: 'mapped', engine: 'sim', nanoUsd: 7 },
      { at: START + 90 * HOUR, engine: 'sim', nanoUsd: 99_999 },
    ];

    it('counts calls, cost and tokens by group, dearest first, before and after the keeper has added them up', async () => {
      await insert(CALLS);
      for (const add of [async () => undefined, rollUp]) {
        await add();
        const { groups, from_rollup_until } = await ask({ group_by: 'engine', metric: 'runs,cost,tokens' });
        expect(groups).toEqual([
          group({ engine: 'claude' }, { runs: 2, cost_nano_usd: 4000, tokens_in: 20, tokens_out: 10, cache_read: 2, thinking: 4 }),
          group(
            { engine: 'sim' },
            { runs: 4, failed: 2, cost_nano_usd: 7, unpriced: 1, tokens_in: 20, tokens_out: 10, cache_read: 2, thinking: 4 },
          ),
        ]);
        expect(from_rollup_until).not.toBeNull();
      }
      expect(await rolledUpTo(store, 1)).toBe(CALLS.length);
    });

    it('tells what was spent in an hour, also in the first one of a day', async () => {
      const midnight = Math.ceil(START / (24 * HOUR)) * 24 * HOUR;
      await insert([0, 1, 1, 2, 25].map((hour) => ({ at: midnight + hour * HOUR + 10, nanoUsd: 7 })));
      for (const add of [async () => undefined, rollUp]) {
        await add();
        const spent = async (since: number, until: number): Promise<number> =>
          (await spentSince(store, { on: {}, since: midnight + since * HOUR, until: midnight + until * HOUR })).requests;
        expect([await spent(0, 1), await spent(1, 2), await spent(0, 24), await spent(24, 48), await spent(24, 25)]).toEqual([
          1, 2, 4, 1, 0,
        ]);
      }
    });

    it('adds up models whose names no database takes as they are', async () => {
      await insert([
        { at: START + 10, model: 'a\u0000b' },
        { at: START + 20, model: 'a\u0000b' },
        { at: START + 30, model: '\ud800' },
      ]);
      await rollUp();
      expect(await rolledUpTo(store, 1)).toBe(3);
      const { groups } = await ask({ group_by: 'model', metric: 'runs' });
      expect(groups.map(({ runs }) => runs)).toEqual([[2], [1]]);
    });

    it('forgets the names of calls whose receipts are deleted, keeps what they came to, and adds later ones up apart', async () => {
      const said = { at: START + 10, keyId: 'k1', model: 'telling', tags: ['blue'], nanoUsd: 5 };
      await insert([said, { ...said, keyId: 'k2', tags: [] }]);
      await rollUp();
      await forgetInRollups(store, 1, { key: 'k1' });
      await forgetInRollups(store, 1, { tag: 'blue' });
      const rows = await store.db
        .selectFrom('usage_rollups')
        .select(['key_id', 'model', 'tags', 'cost_nano_usd'])
        .where('span', '=', 'h')
        .execute();
      expect(rows.toSorted((a, b) => a.key_id.localeCompare(b.key_id))).toEqual([
        { key_id: '', model: '', tags: '[]', cost_nano_usd: 5 },
        { key_id: 'k2', model: 'telling', tags: '[]', cost_nano_usd: 5 },
      ]);
      await insertSealed(store, [sealedCall(said, 3)]);
      await rollUp();
      await forgetInRollups(store, 1, { key: 'k1' });
      const apart = await store.db.selectFrom('usage_rollups').select(['key_id', 'calls']).where('span', '=', 'h').execute();
      expect(apart.map(({ key_id, calls }) => `${key_id} ${calls}`).sort()).toEqual([' 1', ' 1', 'k2 1']);
    });

    it('tells errors by code, tags one by one, fates, and quantiles of durations', async () => {
      await insert(CALLS);
      await rollUp();
      const by = async (name: string): Promise<Record<string, number | undefined>> => {
        const { groups } = await ask({ group_by: name, metric: 'runs' });
        return Object.fromEntries(groups.map(({ key, runs }) => [String(key[name]), runs?.[0]]));
      };
      expect(await by('error')).toEqual({ null: 4, E001: 1, E007: 1 });
      expect(await by('tag')).toEqual({ null: 4, blue: 2, web: 1 });
      expect(await by('fate')).toEqual({ dropped: 2 });
      expect(await by('key')).toEqual({ null: 4, k1: 1, k2: 1 });
      const { groups } = await ask({ metric: 'first_byte,total', engine: 'claude' });
      expect(groups[0]?.first_byte_ms?.p50[0]).toBeCloseTo(10, 0);
      expect(Math.abs((groups[0]?.total_ms?.p95[0] ?? 0) - 2000)).toBeLessThan(60);
    });

    it('puts calls into hours and days', async () => {
      await insert(CALLS);
      await rollUp();
      const hours = await ask({ bucket: '1h', metric: 'runs' });
      expect(hours.groups[0]?.runs?.flatMap((runs, at) => (runs === 0 ? [] : [[at, runs]]))).toEqual([
        [0, 1],
        [1, 1],
        [30, 1],
        [31, 2],
        [32, 1],
      ]);
      expect((await ask({ bucket: '1d', metric: 'runs' })).groups[0]?.runs).toEqual([2, 4, 0]);
    });

    it('is the same from sums as from receipts, whatever the calls are and however far the keeper has come', async () => {
      const call = fc.record({
        at: fc.integer({ min: START - 3 * HOUR, max: START + 64 * HOUR }),
        engine: fc.constantFrom('claude', 'sim'),
        keyId: fc.constantFrom(null, 'k1', 'k2'),
        status: fc.constantFrom('completed', 'failed'),
        mode: fc.constantFrom('passthrough', 'mapped'),
        tags: fc.subarray(['a', 'b']),
        nanoUsd: fc.option(fc.integer({ min: 0, max: 9_000_000_000 })),
      });
      const question = fc.record({
        group_by: fc.constantFrom(undefined, 'engine', 'key,status', 'tag', 'mode,fate'),
        bucket: fc.constantFrom('none', '1h', '1d'),
        tag: fc.constantFrom(undefined, 'a'),
        status: fc.constantFrom(undefined, 'failed'),
      });
      const calls = fc.sample(call, { numRuns: 300, seed: 7 });
      await insert(calls.slice(0, 200));
      await rollUp();
      await insertSealed(
        store,
        calls.slice(200).map((one, at) => sealedCall(one, at + 201)),
      );
      for (const asked of fc.sample(question, { numRuns: 25, seed: 7 })) {
        const query = Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined));
        const metric = 'runs,cost,tokens,first_byte';
        const [sums, counted] = [await ask({ ...query, metric }), await ask({ ...query, metric, min_ms: '0' })];
        expect(counted.from_rollup_until).toBeNull();
        expect(sums.from_rollup_until).not.toBeNull();
        expect(sorted(sums.groups)).toEqual(sorted(counted.groups));
      }
    });

    it('counts nothing twice when a step is repeated, and nothing of a step that broke off', async () => {
      await insert(CALLS);
      const broken = saveRollups(store, {
        chain: 1,
        from: 0,
        to: 3,
        added: [{ nonsense: true } as never],
        merge: (one) => one,
      });
      await expect(broken).rejects.toThrow();
      expect(await rolledUpTo(store, 1)).toBe(0);
      await Promise.allSettled([rollUp(), rollUp()]);
      await rollUp();
      await expect(saveRollups(store, { chain: 1, from: 0, to: 8, added: [], merge: (one) => one })).rejects.toThrow('another process');
      expect((await ask({ metric: 'runs,cost' })).groups).toEqual([group({}, { runs: 6, failed: 2, cost_nano_usd: 4007, unpriced: 1 })]);
    });
  });
}

const ZERO = { failed: 0, unpriced: 0 };

/** A group with one bucket. */
function group(key: object, sums: Readonly<Record<string, number>>): object {
  return { key, ...Object.fromEntries(Object.entries({ ...ZERO, ...sums }).map(([name, value]) => [name, [value]])) };
}

function sorted<T extends { readonly key: object }>(groups: readonly T[]): T[] {
  return groups.toSorted((a, b) => (JSON.stringify(a.key) < JSON.stringify(b.key) ? -1 : 1));
}
