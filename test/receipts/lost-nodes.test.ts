import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LateEnd } from '../../src/contract/receipts/late-end.ts';
import { Receipt } from '../../src/contract/receipts/receipt.ts';
import { newRunId, type RunId } from '../../src/contract/run-id.ts';
import { UsageQuery } from '../../src/gateway/api/run-rows.ts';
import { usageOf } from '../../src/gateway/rows/usage.ts';
import { removeReceipts } from '../../src/receipts/remove.ts';
import { countEarlierLateEnds } from '../../src/receipts/usage/late-usage.ts';
import { RollUp } from '../../src/receipts/usage/roll-up.ts';
import { spentByChain, spentSince } from '../../src/receipts/usage/spent.ts';
import { verifyRun, verifyStored } from '../../src/receipts/verify/verify-stored.ts';
import { createKey, findKeyByHash, isLive } from '../../src/store/keys.ts';
import { chainOf, listChains } from '../../src/store/receipts/chain.ts';
import { findLateEnd } from '../../src/store/receipts/late-ends.ts';
import { getReceipt, listReceipts } from '../../src/store/receipts/receipts.ts';
import { createRun, endRun, getRun } from '../../src/store/runs/runs.ts';
import type { SpentSums } from '../../src/store/usage/spent.ts';
import { closeFact, openFact } from '../support/facts.ts';
import { freshDatabase } from '../support/postgres.ts';
import { type NodeGroup, nodeGroup, type TestNode } from './node-group.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
let group: NodeGroup;
let [a, b, c]: TestNode[] = [];

beforeEach(async () => {
  group = await nodeGroup(await freshDatabase());
  [a, b, c] = [await group.node('node_a'), await group.node('node_b'), await group.node('node_c')];
});
afterEach(() => group.close());

const nodes = (): { a: TestNode; b: TestNode; c: TestNode } => {
  if (a === undefined || b === undefined || c === undefined) throw new Error('no nodes');
  return { a, b, c };
};
const receiptOf = async (run: RunId): Promise<Receipt> => Receipt.parse((await getReceipt(group.store, run))?.document);
const sealerOf = async (run: RunId): Promise<string | undefined> => {
  const row = await getReceipt(group.store, run);
  return (await listChains(group.store)).find(({ number }) => number === row?.chain)?.node;
};
/** Every chain verifies, and so many receipts are in it. */
const expectChains = async (receipts: Readonly<Record<string, number>>): Promise<void> => {
  for (const [node, count] of Object.entries(receipts)) {
    const chain = await chainOf(group.store, node);
    if (chain.sequence > 0) expect(await verifyStored(group.store, chain)).toMatchObject({ ok: true, node, receipts: count });
    else expect(count).toBe(0);
  }
};

describe('a node that is lost', () => {
  it('has its runs closed by another one after two minutes, which names both and seals them in its own chain', async () => {
    const { a, b } = nodes();
    const run = await a.begin();
    await a.beat();
    await group.pass(MINUTE, [b]);
    expect((await receiptOf(run)).status).toBe('running');
    await group.pass(MINUTE + 20_000, [b]);
    const receipt = await receiptOf(run);
    expect(receipt).toMatchObject({
      status: 'failed',
      reason: 'interrupted',
      node: 'node_a',
      error: { code: 'internal', message: 'the node node_a that served this run was lost; the node node_b closed the run' },
    });
    expect(await sealerOf(run)).toBe('node_b');
    expect(b.closed).toEqual([['node_a', run]]);
    expect(await verifyRun(group.store, run)).toMatchObject({ ok: true, node: 'node_b', receipts: 1 });
    await expectChains({ node_a: 0, node_b: 1 });
  });

  it('has the keys of its runs revoked with them', async () => {
    const { a, b } = nodes();
    const run = await a.begin();
    const other = await b.begin();
    const scopes = { planes: ['gateway'] };
    for (const [hash, runId] of [
      ['of-a', run],
      ['of-b', other],
    ] as const)
      await createKey(group.store, { kind: 'run', name: hash, hash, prefix: 'abp_', scopes, createdAt: 1, runId });
    const isLiveKey = async (hash: string): Promise<boolean> => {
      const key = await findKeyByHash(group.store, hash);
      return key !== undefined && isLive(key, group.clock.time);
    };
    await a.beat();
    await group.pass(MINUTE, [b]);
    expect([await isLiveKey('of-a'), await isLiveKey('of-b')]).toEqual([true, true]);
    await group.pass(MINUTE + 20_000, [b]);
    expect([await isLiveKey('of-a'), await isLiveKey('of-b')]).toEqual([false, true]);
  });

  it('keeps its runs while it says that it lives', async () => {
    const { a, b } = nodes();
    const run = await a.begin();
    await group.pass(10 * MINUTE, [a, b]);
    expect((await receiptOf(run)).status).toBe('running');
  });

  it('is given the whole time again when the watcher has not watched', async () => {
    const { a, b } = nodes();
    const run = await a.begin();
    await group.pass(MINUTE, [b]);
    // The database was away from everybody.
    group.clock.time += 5 * MINUTE;
    await b.look();
    await group.pass(MINUTE, [b]);
    expect((await receiptOf(run)).status).toBe('running');
    await group.pass(MINUTE, [b]);
    expect((await receiptOf(run)).status).toBe('failed');
  });

  it('keeps a run that is younger than its silence', async () => {
    const { a, b } = nodes();
    await group.pass(90_000, [b]);
    const run = await a.begin();
    await group.pass(MINUTE, [b]);
    expect((await receiptOf(run)).status).toBe('running');
    await group.pass(2 * MINUTE, [b]);
    expect((await receiptOf(run)).status).toBe('failed');
  });

  it('leaves turns of agents to the workers on turns', async () => {
    const { a, b } = nodes();
    const run = await a.begin({ backend: 'agent:helper' });
    await group.pass(5 * MINUTE, [b]);
    expect((await receiptOf(run)).status).toBe('running');
  });

  it('may have left more runs than fit on a page', async () => {
    const { a, b } = nodes();
    a.journal(Array.from({ length: 1200 }, () => openFact({ run: newRunId(), at: group.clock.time })));
    await a.drain();
    await group.pass(3 * MINUTE, [b]);
    expect(b.closed).toHaveLength(1200);
    expect((await listReceipts(group.store, { unfinished: true })).items).toEqual([]);
    await expectChains({ node_b: 1200 });
  });

  it('has the rows of its coding agents closed, and its own word about them wins', async () => {
    const { b } = nodes();
    const runId = newRunId();
    await createRun(group.store, { runId, agent: 'claude', node: 'node_a', keyId: null, options: {}, createdAt: group.clock.time });
    await group.pass(3 * MINUTE, [b]);
    expect(await getRun(group.store, runId)).toMatchObject({ status: 'failed', result: { exitReason: 'interrupted' } });
    await endRun(group.store, runId, { status: 'completed', result: { text: 'done' }, at: group.clock.time });
    await endRun(group.store, runId, { status: 'cancelled', result: { text: 'twice' }, at: group.clock.time });
    expect(await getRun(group.store, runId)).toMatchObject({ status: 'completed', result: { text: 'done' } });
  });
});

describe('two nodes that find a third one lost', () => {
  it('close each of its runs once', async () => {
    const { a, b, c } = nodes();
    a.journal(Array.from({ length: 300 }, () => openFact({ run: newRunId(), at: group.clock.time })));
    await a.drain();
    await group.pass(110_000, [b, c]);
    group.clock.time += 20_000;
    await Promise.all([b.look(), c.look()]);
    expect(b.closed.length + c.closed.length).toBe(300);
    expect(new Set([...b.closed, ...c.closed].map(([, run]) => run)).size).toBe(300);
    await expectChains({ node_a: 0, node_b: b.closed.length, node_c: c.closed.length });
  });
});

describe('a node that was only stopped', () => {
  it('goes on: the receipt stays as it was sealed, and the chain of the node has how the run ended', async () => {
    const { a, b } = nodes();
    const [run, other] = [await a.begin(), await a.begin()];
    await a.beat();
    await group.pass(3 * MINUTE, [b]);
    const sealed = await receiptOf(run);
    await a.end(run);
    await a.end(other, { status: 'cancelled', reason: 'client_closed' });
    expect(await receiptOf(run)).toEqual(sealed);
    const late = await findLateEnd(group.store, run);
    expect(LateEnd.parse(late?.document)).toMatchObject({
      run_id: run,
      node: 'node_a',
      status: 'completed',
      event_count: 7,
      response: { bytes: 20, status: 200 },
      usage: { input_tokens: 3, output_tokens: 4 },
    });
    expect((await findLateEnd(group.store, other))?.document).toMatchObject({ status: 'cancelled', reason: 'client_closed' });
    expect(await verifyRun(group.store, run)).toMatchObject({
      ok: true,
      notes: ['node_a came back after it was taken for lost; entry 1 of its chain says that the run was completed'],
    });
    // And it works as before.
    const next = await a.begin();
    await a.end(next);
    expect((await receiptOf(next)).status).toBe('completed');
    expect(await sealerOf(next)).toBe('node_a');
    await expectChains({ node_a: 1, node_b: 2 });
  });

  it('takes its late ends along when the receipt is removed', async () => {
    const { a, b } = nodes();
    const run = await a.begin({ keyId: 'key_gone' });
    await group.pass(3 * MINUTE, [b]);
    await a.end(run);
    expect(await findLateEnd(group.store, run)).toBeDefined();
    await removeReceipts(group.store, b.chain, { status: 'deleted', reason: 'asked', key: 'key_gone' });
    expect(await findLateEnd(group.store, run)).toBeUndefined();
    await expectChains({ node_a: 0, node_b: 0 });
  });
});

/** What usage says of everything, in whichever way it is asked for, and what budgets go by. */
async function told(): Promise<{ readonly ways: readonly Record<string, unknown>[]; readonly spent: SpentSums }> {
  const { time } = group.clock;
  const hour = Math.floor(time / HOUR) * HOUR;
  const ask = (query: object) =>
    usageOf(
      group.store,
      UsageQuery.parse({ since: new Date(hour - 2 * HOUR).toISOString(), until: new Date(hour + 2 * HOUR).toISOString(), ...query }),
      {},
    );
  const ways = [];
  for (const way of [{}, { bucket: '1h' }, { plane: 'gateway' }, { until: new Date(time + MINUTE).toISOString() }]) {
    const { groups } = await ask({ ...way, group_by: 'status,model,error', metric: 'runs,cost,tokens,total' });
    ways.push(
      ...groups.map(({ key, ...series }) => {
        const { total_ms, ...sums } = series;
        const added = Object.entries(sums).map(([name, values]) => [
          name,
          Array.isArray(values) ? values.reduce((sum, value) => sum + value, 0) : null,
        ]);
        return { ...key, ...Object.fromEntries(added), p50: total_ms?.p50.find((ms) => ms !== null) };
      }),
    );
  }
  const spent = await spentSince(group.store, { on: { keys: ['key_a'] }, since: hour - 24 * HOUR, until: hour + 24 * HOUR });
  return { ways, spent };
}

describe('usage of a call that its node ended late', () => {
  const cost = { nano_usd: 50, price_version: 'test' };
  /** Sums are written down by each node for its own chain. */
  const sumUp = async (...by: readonly TestNode[]): Promise<void> => {
    for (const { chain } of by) while (await new RollUp(group.store, chain.number).step());
  };
  const real = { status: 'completed', model: 'sim-1-20270101', error: null, runs: 1, failed: 0, cost_nano_usd: 50, unpriced: 0 };
  const counts = { tokens_in: 3, tokens_out: 4, cache_read: 0, thinking: 0 };
  const exact = { ...real, ...counts, p50: expect.closeTo(200, -1) };
  const [never, ...orders]: readonly ((nodes: { a: TestNode; b: TestNode }) => readonly TestNode[])[] = [
    () => [],
    ({ b }) => [b],
    ({ a, b }) => [a, b],
  ];

  it.each([
    ['before anybody has added it up', never],
    ['once the node that closed it has added it up', orders[0]],
    ['once both have', orders[1]],
  ])('counts what it really used once: %s', async (_, addUp) => {
    const { a, b } = nodes();
    const run = await a.begin({ keyId: 'key_a' });
    await group.pass(3 * MINUTE, [b]);
    const estimated = await told();
    expect(estimated.spent).toMatchObject({ requests: 1 });
    expect(estimated.spent.tokens).toBeGreaterThan(0);
    await sumUp(...(addUp?.({ a, b }) ?? []));
    expect((await told()).spent).toEqual(estimated.spent);
    await a.end(run, { cost });
    for (const by of [[], [a], [a, b]]) {
      await sumUp(...by);
      const { ways, spent } = await told();
      expect(spent).toEqual({ nano_usd: 50, tokens: 7, requests: 1, unpriced: 0 });
      expect(ways).toEqual([exact, exact, exact, exact]);
    }
    expect((await receiptOf(run)).reason).toBe('interrupted');
    // Its journal is read again.
    await group.store.db.deleteFrom('journal_positions').execute();
    await (await group.node('node_a')).restart();
    expect((await told()).ways).toEqual([exact, exact, exact, exact]);
  });

  it('tells each chain apart: the estimate leaves the node that made it, and what was used is with the node that knows it', async () => {
    const { a, b } = nodes();
    const run = await a.begin({ keyId: 'key_a' });
    await group.pass(3 * MINUTE, [b]);
    await sumUp(b);
    await a.end(run, { cost });
    const { time: now } = group.clock;
    const chains = await spentByChain(group.store, { on: { keys: ['key_a'] }, since: now - 24 * HOUR, until: now + 24 * HOUR });
    const of = ({ chain }: TestNode) => chains.find((one) => one.chain === chain.number);
    expect(of(a)).toMatchObject({ told: { nano_usd: 50, tokens: 7, requests: 1 }, taken: { requests: 0 } });
    expect(of(b)?.told).toEqual(of(b)?.taken);
    expect(of(b)?.told).toMatchObject({ requests: 1 });
  });

  it('counts those that an earlier version has written, once', async () => {
    const { a, b } = nodes();
    const run = await a.begin({ keyId: 'key_a' });
    await group.pass(3 * MINUTE, [b]);
    await a.end(run, { cost });
    await group.store.db.deleteFrom('usage_rollups').where('late_of', '!=', 0).execute();
    await group.store.db.updateTable('late_ends').set({ counted: 0 }).execute();
    for (let times = 0; times < 2; times += 1) {
      await countEarlierLateEnds(group.store, a.chain.number);
      await countEarlierLateEnds(group.store, b.chain.number);
      expect((await told()).ways).toEqual([exact, exact, exact, exact]);
    }
  });

  it('keeps what it came to and no name, once the receipt is deleted', async () => {
    const { a, b } = nodes();
    const run = await a.begin({ keyId: 'key_a', tags: [] });
    await group.pass(3 * MINUTE, [b]);
    await a.end(run, { cost });
    await removeReceipts(group.store, b.chain, { status: 'deleted', reason: 'asked', key: 'key_a' });
    const rows = await group.store.db.selectFrom('usage_rollups').selectAll().where('span', '=', 'd').execute();
    expect(new Set(rows.map(({ key_id, model }) => `${key_id}${model}`))).toEqual(new Set(['']));
    const sum = (name: 'calls' | 'cost_nano_usd' | 'tokens_out'): number => rows.reduce((total, row) => total + row[name], 0);
    expect([sum('calls'), sum('cost_nano_usd'), sum('tokens_out')]).toEqual([1, 50, 4]);
  });
});

describe('a node that was killed and restarts with its journal', () => {
  it('keeps ends that were not drained as late ends, once, and closes nothing twice', async () => {
    const { a, b } = nodes();
    const [ended, cut] = [await a.begin(), await a.begin()];
    a.journal([closeFact({ run: ended })]);
    await group.pass(3 * MINUTE, [b]);
    const again = await group.node('node_a');
    expect(await again.restart()).toBe(0);
    expect((await receiptOf(ended)).reason).toBe('interrupted');
    expect((await receiptOf(cut)).reason).toBe('interrupted');
    expect((await findLateEnd(group.store, ended))?.document.status).toBe('completed');
    expect(await findLateEnd(group.store, cut)).toBeUndefined();
    // Killed again before the position of the journal was written: the same end is not kept twice.
    await group.store.db.deleteFrom('journal_positions').execute();
    const third = await group.node('node_a');
    expect(await third.restart()).toBe(0);
    expect((await chainOf(group.store, 'node_a')).sequence).toBe(1);
    await expectChains({ node_a: 0, node_b: 2 });
  });

  it('closes its runs itself when it is back in time', async () => {
    const { a, b } = nodes();
    const run = await a.begin();
    await group.pass(MINUTE, [b]);
    expect(await a.restart()).toBe(1);
    await group.pass(3 * MINUTE, [b]);
    expect(await sealerOf(run)).toBe('node_a');
    await expectChains({ node_a: 1, node_b: 0 });
  });

  it('and another one that closes its runs at the same moment close each once', async () => {
    const { a, b } = nodes();
    a.journal(Array.from({ length: 300 }, () => openFact({ run: newRunId(), at: group.clock.time })));
    await a.drain();
    await group.pass(110_000, [b]);
    group.clock.time += 20_000;
    const [own] = await Promise.all([a.restart(), b.look()]);
    expect(own + b.closed.length).toBe(300);
    await expectChains({ node_a: own, node_b: b.closed.length });
  });
});
