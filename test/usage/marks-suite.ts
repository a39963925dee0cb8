import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import { RowQuery } from '../../src/gateway/api/run-rows.ts';
import { findReceipts, rowTest } from '../../src/gateway/rows/find-rows.ts';
import { rowOf } from '../../src/gateway/rows/run-row.ts';
import { MarkUp } from '../../src/receipts/usage/mark-up.ts';
import type { StoredReceipt } from '../../src/store/receipts/receipt-columns.ts';
import { replaceByStubs } from '../../src/store/receipts/receipt-removal.ts';
import type { Store } from '../../src/store/store.ts';
import { insertSealed, sealedCall } from './calls.ts';

const START = Date.UTC(2026, 9, 20, 6, 30);
const PARENT = 'run_0192f3a0c1d27b7e8f00112233445566';
const MANY = 60;

const every = (at: number, many: number, rest: number): boolean => at % many === rest;

/** Sixty calls, of which a few have what filters ask for. */
function calls(): StoredReceipt[] {
  return Array.from({ length: MANY }, (_, at) => ({ ...call(at), document: { ...call(at).document, ...members(at) } }));
}

function call(at: number): StoredReceipt {
  return sealedCall(
    {
      at: START + at * 1000,
      engine: every(at, 2, 0) ? 'claude' : 'openai',
      model: at === 17 ? 'rare-model' : 'usual',
      mode: every(at, 5, 0) ? 'mapped' : 'passthrough',
      tags: every(at, 15, 4) ? ['rare', 'blue'] : ['blue'],
      nanoUsd: every(at, 7, 0) ? null : 1000 * at,
      ...(every(at, 20, 3) ? { status: 'failed', error: 'E007' } : {}),
    },
    at + 1,
  );
}

function members(at: number): JsonObject {
  const task = every(at, 13, 5) ? `Repair the Lighthouse ${at}` : 'POST /v1/messages → claude';
  return { task, parent_run_id: every(at, 11, 6) ? PARENT : null };
}

const QUERIES: readonly object[] = [
  { fate: 'dropped' },
  { fate: 'refused' },
  { min_cost_nano_usd: 41_500 },
  { min_cost_nano_usd: 1e12 },
  { q: 'lighthouse' },
  { q: 'RARE-m' },
  { q: 'nowhere' },
  { status: 'failed' },
  { reason: 'E007' },
  { engine: 'openai', status: 'failed' },
  { engine: 'nobody' },
  { model: 'rare-model' },
  { tag: 'rare' },
  { tag: 'rare', fate: 'dropped' },
  { parent: PARENT },
  { mode: 'mapped', min_cost_nano_usd: 20_000 },
  { engine: 'claude', q: 'lighthouse', since: new Date(START + 20_000).toISOString(), until: new Date(START + 50_000).toISOString() },
];

/** What lists find receipts by, whichever database holds it. */
export function marksSuite(database: string, open: () => Promise<Store>): void {
  describe(`marks of receipts on ${database}`, () => {
    let store: Store;
    beforeEach(async () => {
      store = await open();
    });
    afterEach(() => store.close());

    /** All pages of a list, as the ids of the runs. */
    async function found(query: object, limit: number): Promise<string[]> {
      const ids: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await findReceipts(store, { ...RowQuery.parse(query), cursor }, limit);
        ids.push(...page.items.map(({ row }) => row.run_id));
        cursor = page.next_cursor;
      } while (cursor !== undefined);
      return ids;
    }

    /** What the rows themselves say. */
    function expected(all: readonly StoredReceipt[], query: object): string[] {
      const asked = RowQuery.parse(query);
      const { engine, model, status, tag, since = 0, until = Number.POSITIVE_INFINITY } = asked;
      const test = rowTest(asked);
      return all
        .filter(
          (one) => (engine ?? one.engine) === one.engine && (model ?? one.model) === one.model && (status ?? one.status) === one.status,
        )
        .filter((one) => (tag === undefined || one.tags.includes(tag)) && one.startedAt >= since && one.startedAt < until)
        .filter((one) => test(rowOf(one)))
        .map(({ runId }) => runId)
        .toReversed();
    }

    it('find what fits each filter, page by page, before, while and after the keeper has made them', async () => {
      const all = calls();
      await insertSealed(store, all.slice(0, 40));
      const marks = new MarkUp(store, 1);
      for (const stage of [all.slice(0, 40), all.slice(0, 40), all]) {
        if (stage === all) await insertSealed(store, all.slice(40));
        for (const query of QUERIES) expect([query, await found(query, 3)]).toEqual([query, expected(stage, query)]);
        await marks.step();
      }
      for (const query of QUERIES) expect([query, await found(query, 50)]).toEqual([query, expected(all, query)]);
    });

    it('go with the content of a receipt, and words that no receipt has any more go with them', async () => {
      const all = calls();
      await insertSealed(store, all);
      await new MarkUp(store, 1).step();
      const [gone] = all.filter(({ document }) => String(document.task).includes('Lighthouse 31'));
      const run = gone?.runId ?? expect.fail();
      const document = JSON.stringify({ run_id: run, status: 'deleted' });
      await store.db.transaction().execute((db) => replaceByStubs(db, { kind: store.kind, status: 'deleted', stubs: [{ run, document }] }));
      const kinds = await store.db.selectFrom('receipt_kinds').select('words').execute();
      expect(kinds.filter(({ words }) => words.includes('lighthouse 31'))).toEqual([]);
      expect(kinds.filter(({ words }) => words.includes('lighthouse 18'))).toHaveLength(1);
      expect(await found({ q: 'lighthouse' }, 50)).not.toContain(run);
      expect(await found({ status: 'deleted' }, 50)).toEqual([run]);
    });
  });
}
