import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { closeFact, openFact } from '../../../test/support/facts.ts';
import { newRunId, type RunId } from '../../contract/run-id.ts';
import { openHome } from '../../home/home.ts';
import { openStore } from '../../store/database.ts';
import { MarkRows, markedUpTo } from '../../store/receipts/mark-rows.ts';
import { createRun } from '../../store/runs/runs.ts';
import type { Store } from '../../store/store.ts';
import { rolledUpTo, sealedReceipts } from '../../store/usage/rollups.ts';
import { factLine } from '../journal/fact-line.ts';
import type { CloseFact, OpenFact } from '../journal/facts.ts';
import { Drain } from '../keeper/drain.ts';
import { type Chain, openChain } from '../seal/chain.ts';
import { callsIn } from './call-usage.ts';
import { SealedBatches } from './chain-follower.ts';
import { Followers } from './followers.ts';
import { RollUp } from './roll-up.ts';
import { SealedUsage } from './sealed-usage.ts';
import { UsageSums } from './usage-sums.ts';

let parent: string;
let store: Store;
let chain: Chain;
const agentRun = newRunId();

beforeEach(async () => {
  parent = mkdtempSync(join(tmpdir(), 'abp-sealed-usage-'));
  mkdirSync(join(parent, 'segments'));
  store = await openStore({ home: openHome({ path: join(parent, 'home') }) });
  chain = await openChain(store, 'node_a', join(parent, 'keys'));
  await createRun(store, { runId: agentRun, agent: 'claude', node: 'node_a', keyId: 'key_owner', options: { prompt: 'hi' }, createdAt: 5 });
});
afterEach(async () => {
  await store.close();
  rmSync(parent, { recursive: true, force: true });
});

type Said = [Partial<OpenFact>, Partial<CloseFact>];
const usage = closeFact().usage;
const cost = { nano_usd: 12_345, price_version: '2026-11-01' };
const SAID: readonly Said[] = [
  [{}, {}],
  [{ keyId: 'key_1', tags: ['b', 'a', 'ü'] }, { cost }],
  [
    { requestedModel: 'größe "1"\u0000', upstreamModel: null, mode: 'mapped' },
    { upstreamModel: null, usage: null, firstByteMs: null, lastByteMs: null },
  ],
  [{}, { status: 'failed', reason: 'upstream_error', error: { code: 'E005', message: 'no' }, usage: null }],
  [
    {
      fidelity: [
        { path: 'a', fate: 'dropped' },
        { path: 'b', fate: 'emulated' },
      ] as unknown as OpenFact['fidelity'],
    },
    {},
  ],
  [{ parent: agentRun, keyId: 'key_of_the_run' }, { cost }],
  [{ plane: 'run', mode: null, engine: null }, { cost }],
  [
    { plane: 'agent', mode: 'mapped', at: 1_800_000_000_000 + 7_200_000 },
    { at: 1_800_000_000_000 + 7_300_000, usage },
  ],
];

function write(segment: string, said: readonly Said[]): void {
  const lines = said.flatMap(([open, close]) => {
    const run: RunId = newRunId();
    return [factLine(openFact({ ...open, run })), factLine(closeFact({ ...close, run }))];
  });
  writeFileSync(join(parent, 'segments', `${segment}.facts`), `${lines.join('\n')}\n`);
}

async function drained(): Promise<SealedUsage[]> {
  const noted: SealedUsage[] = [];
  const origin = { node: 'node_a', version: '1' };
  const onSealed = (one: SealedUsage): void => void noted.push(one);
  await new Drain({ store, folder: join(parent, 'segments'), origin, chain, onSealed }).all();
  return noted;
}

async function read(after = 0): Promise<UsageSums> {
  const sums = new UsageSums();
  for (const call of await callsIn(store, await sealedReceipts(store, chain.number, after, 1000))) sums.add(call);
  return sums;
}

it('comes to what the stored receipts come to, in one batch and in several', async () => {
  write('1', SAID);
  write('2', SAID.toReversed());
  const all = new SealedUsage();
  for (const one of await drained()) all.join(one);
  expect([all.receipts, all.last]).toEqual([2 * SAID.length, 2 * SAID.length]);
  const rollups = (await all.sums(store)).rollups();
  expect(rollups).toEqual((await read()).rollups());
  expect(rollups.map(({ agent, key_id }) => `${agent} ${key_id}`)).toContain('claude key_owner');
});

it('is added up instead of the receipts, unless others were sealed between them', async () => {
  write('1', SAID);
  await drained();
  write('2', SAID);
  const rollUp = new RollUp(store, chain.number);
  for (const one of await drained()) rollUp.note(one);
  expect(await rollUp.step()).toBe(false);
  expect(await rolledUpTo(store, chain.number)).toBe(2 * SAID.length);
  write('3', SAID);
  for (const one of await drained()) rollUp.note(one);
  expect(await rollUp.step()).toBe(false);
  const rows = await store.db.selectFrom('usage_rollups').selectAll().where('span', '=', 'h').execute();
  const calls = rows.reduce((sum, row) => sum + row.calls, 0);
  expect(calls).toBe((await read()).rollups().reduce((sum, { span, calls: many }) => sum + (span === 'h' ? many : 0), 0));
});

it('is made of receipts of before where nothing was noted, which are read once for sums and marks', async () => {
  write('1', SAID);
  await drained();
  const batches = new SealedBatches(store, chain.number);
  expect(await batches.after(0)).toHaveLength(SAID.length);
  expect(batches.after(0)).toBe(batches.after(0));
  await new Followers(store, chain.number).catchUp();
  expect([await rolledUpTo(store, chain.number), await markedUpTo(store, chain.number)]).toEqual([SAID.length, SAID.length]);
});

/** Receipts that differ from the first in one thing that usage or marks tell, each with one like it. */
const NEARLY_ALIKE: readonly Said[] = [
  [{}, {}],
  [{ plane: 'agent' }, {}],
  [{ task: 'POST /v1/messages → other' }, {}],
  [{ engine: 'claude' }, {}],
  [{ backend: 'engine:claude' }, {}],
  [{ requestedModel: 'sim-2' }, {}],
  [{ upstreamModel: 'sim-3' }, { upstreamModel: null }],
  [{}, { upstreamModel: 'sim-4' }],
  [{ mode: 'mapped' }, {}],
  [{ tags: ['green'] }, {}],
  [{ keyId: 'key_2' }, {}],
  [{}, { status: 'cancelled' }],
  [{}, { reason: 'client_closed' }],
  [{}, { error: { code: 'E007', message: 'away' } }],
  [{}, { error: { code: 'E007', message: 'far away' } }],
  [{ fidelity: [{ path: 'a', fate: 'dropped' }] as unknown as OpenFact['fidelity'] }, {}],
  [{}, { fidelity: [{ path: 'a', fate: 'refused' }] as unknown as OpenFact['fidelity'] }],
  [{ parent: agentRun }, {}],
  [{}, { cost }],
  [{}, { cost: { ...cost, nano_usd: 0 } }],
  [{}, { firstByteMs: 71.25, lastByteMs: 9000 }],
];

it.each([
  ['receipts of every kind', SAID],
  ['receipts that differ in one thing', [...NEARLY_ALIKE, ...NEARLY_ALIKE]],
])('has the marks that the stored receipts have, and comes to what they come to: %s', async (_, said) => {
  write('1', said);
  const [noted] = await drained();
  const stored = await sealedReceipts(store, chain.number, 0, 1000);
  expect(stored).toHaveLength(said.length);
  const made = MarkRows.of(stored);
  const rowsOf = ({ text }: MarkRows): string[] => (JSON.parse(text) as unknown[]).map((row) => JSON.stringify(row)).sort();
  expect(noted?.marks.kinds).toEqual(made.kinds);
  expect(rowsOf(noted?.marks ?? new MarkRows())).toEqual(rowsOf(made));
  expect((await noted?.sums(store))?.rollups()).toEqual((await read()).rollups());
});
