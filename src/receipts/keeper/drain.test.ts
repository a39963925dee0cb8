import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { closeFact, openFact } from '../../../test/support/facts.ts';
import { newRunId, type RunId } from '../../contract/run-id.ts';
import { openHome } from '../../home/home.ts';
import { openStore } from '../../store/database.ts';
import { chainOf } from '../../store/receipts/chain.ts';
import { journalPosition } from '../../store/receipts/journal-positions.ts';
import { getReceipt, listReceipts } from '../../store/receipts/receipts.ts';
import type { Store } from '../../store/store.ts';
import { factLine } from '../journal/fact-line.ts';
import type { Fact } from '../journal/facts.ts';
import { type Chain, openChain } from '../seal/chain.ts';
import { verifyStored } from '../verify/verify-stored.ts';
import { Drain, type DrainOptions } from './drain.ts';
import { damagedParts } from './gaps.ts';
import { closeInterrupted } from './interrupted.ts';

const origin = { node: 'node_a', version: '1' };
let parent: string;
let journal: string;
let store: Store;
let chain: Chain;

beforeEach(async () => {
  parent = mkdtempSync(join(tmpdir(), 'abp-drain-'));
  journal = join(parent, 'segments');
  mkdirSync(journal);
  store = await openStore({ home: openHome({ path: join(parent, 'home') }) });
  chain = await openChain(store, origin.node, join(parent, 'keys'));
});
afterEach(async () => {
  vi.useRealTimers();
  await store.close();
  rmSync(parent, { recursive: true, force: true });
});

const line = (fact: Fact): string => `${factLine(fact)}\n`;
const segment = (name: string, text: string): void => writeFileSync(join(journal, `${name}.facts`), text);
const drain = (options: Partial<DrainOptions> = {}): Drain => new Drain({ store, folder: journal, origin, chain, ...options });
const statusOf = async (run: RunId): Promise<string | undefined> => (await getReceipt(store, run))?.status;

describe('a drain', () => {
  it('turns facts into receipts', async () => {
    const [done, open] = [newRunId(), newRunId()];
    segment('1', line(openFact({ run: done })) + line(openFact({ run: open })) + line(closeFact({ run: done })));
    expect(await drain().all()).toEqual([done, open]);
    expect(await statusOf(done)).toBe('completed');
    expect(await statusOf(open)).toBe('running');
  });

  it('changes nothing when it is done again, by itself or by the next process', async () => {
    const run = newRunId();
    segment('1', line(openFact({ run })) + line(closeFact({ run })));
    const first = drain();
    await first.all();
    const before = await getReceipt(store, run);
    expect(await first.all()).toEqual([]);
    expect(await drain().all()).toEqual([]);
    expect(await getReceipt(store, run)).toEqual(before);
    expect((await listReceipts(store)).items).toHaveLength(1);
  });

  it('leaves a torn last line for later and takes it when it is whole', async () => {
    const run = newRunId();
    const close = line(closeFact({ run }));
    segment('1', line(openFact({ run })) + close.slice(0, 40));
    const one = drain();
    await one.all();
    expect(await statusOf(run)).toBe('running');
    appendFileSync(join(journal, '1.facts'), close.slice(40));
    await one.all();
    expect(await statusOf(run)).toBe('completed');
  });

  it('passes a torn last line of a killed process and goes on with the next segment', async () => {
    const [torn, next] = [newRunId(), newRunId()];
    segment('1', line(openFact({ run: torn })) + line(closeFact({ run: torn })).slice(0, 40));
    segment('2', line(openFact({ run: next })) + line(closeFact({ run: next })));
    await drain().all();
    expect(await statusOf(torn)).toBe('running');
    expect(await statusOf(next)).toBe('completed');
  });

  it('ends a run whose beginning an earlier process drained', async () => {
    const run = newRunId();
    segment('1', line(openFact({ run })));
    await drain().all();
    segment('2', line(closeFact({ run })));
    await drain().all();
    expect(await getReceipt(store, run)).toMatchObject({ status: 'completed', revision: 2, document: { event_count: 7 } });
  });

  it('ignores an end without a beginning and a second end', async () => {
    const [run, unknown] = [newRunId(), newRunId()];
    const again = line(closeFact({ run, status: 'failed' }));
    segment('1', line(closeFact({ run: unknown })) + line(openFact({ run })) + line(closeFact({ run })) + again);
    await drain().all();
    segment('2', again);
    await drain().all();
    expect(await statusOf(run)).toBe('completed');
    expect(await statusOf(unknown)).toBeUndefined();
  });

  it('takes lines that are longer than its buffer', async () => {
    const [long, after] = [newRunId(), newRunId()];
    const requestedModel = 'm'.repeat(3 * 1024 * 1024);
    segment('1', line(openFact({ run: long, requestedModel })) + line(closeFact({ run: long })) + line(openFact({ run: after })));
    await drain().all();
    expect(await statusOf(long)).toBe('completed');
    expect(await statusOf(after)).toBe('running');
  });

  it('takes more facts than one batch holds', async () => {
    const runs = Array.from({ length: 1500 }, () => newRunId());
    segment('1', runs.map((run) => line(openFact({ run }))).join('') + runs.map((run) => line(closeFact({ run }))).join(''));
    await drain().all();
    const { items } = await listReceipts(store, { limit: 1000, status: 'completed' });
    expect(items).toHaveLength(1000);
    expect((await listReceipts(store, { status: 'running' })).items).toEqual([]);
  });

  it('takes names that are not well-formed text', async () => {
    const run = newRunId();
    segment(
      '1',
      line(openFact({ run, requestedModel: '\ud800', upstreamModel: '\ud800' })) + line(closeFact({ run, upstreamModel: '\u0000' })),
    );
    await drain().all();
    expect(await statusOf(run)).toBe('completed');
  });

  it('says what a run cost, where its engine has prices', async () => {
    const [priced, given, unpriced, free] = [newRunId(), newRunId(), newRunId(), newRunId()];
    const usage = { ...(closeFact().usage ?? expect.fail()), input_tokens: 1000, output_tokens: 100 };
    const prices = { prices: 'anthropic', upstreamModel: 'claude-sonnet-4-5-20250929', usage };
    segment(
      '1',
      [priced, given, unpriced, free].map((run) => line(openFact({ run }))).join('') +
        line(closeFact({ run: priced, ...prices })) +
        line(closeFact({ run: given, ...prices, cost: { nano_usd: 7, price_version: 'mine' } })) +
        line(closeFact({ run: unpriced, ...prices, upstreamModel: 'nobody-knows' })) +
        line(closeFact({ run: free, usage })),
    );
    await drain().all();
    const costOf = async (run: RunId): Promise<unknown> => (await getReceipt(store, run))?.document.cost;
    expect(await costOf(priced)).toEqual({
      nano_usd: 4_500_000,
      price_version: expect.stringMatching(/^genai-prices \d+\.\d+\.\d+, searches 5$/),
    });
    expect(await costOf(given)).toEqual({ nano_usd: 7, price_version: 'mine' });
    expect(await costOf(unpriced)).toBeNull();
    expect(await costOf(free)).toBeNull();
  });

  it('sets a damaged line aside, names the gap in the chain once, and goes on', async () => {
    const [first, second] = [newRunId(), newRunId()];
    const whole = (run: RunId): string => line(openFact({ run })) + line(closeFact({ run }));
    segment('1', `${whole(first)}open\tdamaged\nclose2\tas well\n${whole(second)}`);
    const found: [string, number][] = [];
    await drain({ onDamage: (name, bytes) => found.push([name, bytes]) }).all();
    expect([await statusOf(first), await statusOf(second)]).toEqual(['completed', 'completed']);
    expect(found).toEqual([['1.facts', 27]]);
    const place = `1.facts-${whole(first).length}`;
    expect(damagedParts(journal)).toEqual([place]);
    expect(readFileSync(join(journal, 'damaged', place), 'latin1')).toBe('open\tdamaged\nclose2\tas well');
    const verification = await verifyStored(store, await chainOf(store, origin.node));
    expect(verification).toMatchObject({ ok: true, receipts: 2, last: 3 });
    expect(verification.notes).toEqual(['entry 1: 27 bytes of the journal 1.facts were damaged and are in no receipt']);
    await store.db.deleteFrom('journal_positions').execute();
    await drain().all();
    expect(await verifyStored(store, await chainOf(store, origin.node))).toMatchObject({ ok: true, receipts: 2, last: 3 });
  });

  it('deletes a segment that was drained a minute ago, never the newest', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    segment('1', line(openFact({ run: newRunId() })));
    segment('2', line(openFact({ run: newRunId() })));
    const one = drain();
    await one.all();
    vi.advanceTimersByTime(59_000);
    await one.all();
    expect(existsSync(join(journal, '1.facts'))).toBe(true);
    vi.advanceTimersByTime(2000);
    await one.all();
    expect(existsSync(join(journal, '1.facts'))).toBe(false);
    expect(await journalPosition(store, '1.facts')).toBe(0);
    vi.advanceTimersByTime(120_000);
    await one.all();
    expect(existsSync(join(journal, '2.facts'))).toBe(true);
  });
});

describe('what an earlier process left open', () => {
  it('is closed as interrupted, of this node only, and stays so', async () => {
    const [mine, done, other] = [newRunId(), newRunId(), newRunId()];
    segment('1', line(openFact({ run: mine })) + line(openFact({ run: done })) + line(closeFact({ run: done })));
    await drain().all();
    segment('2', line(openFact({ run: other })));
    const elsewhere = { ...origin, node: 'node_b' };
    const theirs = await openChain(store, elsewhere.node, join(parent, 'other-keys'));
    await new Drain({ store, folder: journal, origin: elsewhere, chain: theirs }).all();
    expect(await closeInterrupted(store, chain, origin, { now: 1_800_000_009_000 })).toBe(1);
    expect((await getReceipt(store, mine))?.document).toMatchObject({
      status: 'failed',
      reason: 'interrupted',
      receipt_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(await statusOf(done)).toBe('completed');
    expect(await statusOf(other)).toBe('running');
    expect(await closeInterrupted(store, chain, origin, { now: 1_800_000_009_000 })).toBe(0);
  });

  it('tells about what its calls have used, so that budgets count them, and of calls without a model nothing', async () => {
    const request = { sha256: 'a'.repeat(64), bytes: 4000 };
    const called = { engine: 'claude', requestedModel: 'claude-sonnet-4-5', upstreamModel: 'claude-sonnet-4-5', request };
    const cases = {
      call: openFact({ ...called, run: newRunId(), upstreamRequest: { ...request, bytes: 8000 } }),
      media: openFact({ ...called, run: newRunId(), upstreamRequest: { ...request, bytes: 40_000_000 } }),
      unpriced: openFact({ ...called, run: newRunId(), engine: 'elsewhere', upstreamRequest: null }),
      counted: openFact({ ...called, run: newRunId(), task: 'POST /v1/messages/count_tokens → claude' }),
      raw: openFact({ ...called, run: newRunId(), requestedModel: null, upstreamModel: null }),
      run: openFact({ ...called, run: newRunId(), plane: 'run', mode: null }),
    };
    segment('1', Object.values(cases).map(line).join(''));
    await drain().all();
    await closeInterrupted(store, chain, origin, { now: 1_800_000_009_000, prices: { claude: 'anthropic' } });
    const told = async (name: keyof typeof cases) => (await getReceipt(store, cases[name].run))?.document;
    expect(await told('call')).toMatchObject({
      usage: { input_tokens: 2000, output_tokens: 0, estimated: true },
      cost: { nano_usd: 2000 * 3000 },
    });
    expect(await told('media')).toMatchObject({ usage: { input_tokens: 200_000 } });
    expect(await told('unpriced')).toMatchObject({ usage: { input_tokens: 1000 }, cost: null });
    for (const name of ['counted', 'raw', 'run'] as const) expect(await told(name)).toMatchObject({ usage: null, cost: null });
  });

  it('may be more than one page', async () => {
    segment('1', Array.from({ length: 1100 }, () => line(openFact({ run: newRunId() }))).join(''));
    await drain().all();
    expect(await closeInterrupted(store, chain, origin, { now: 1_800_000_009_000 })).toBe(1100);
    expect((await listReceipts(store, { status: 'running' })).items).toEqual([]);
  });
});
