import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newRunId } from '../../src/contract/run-id.ts';
import { openHome } from '../../src/home/home.ts';
import { BodyKeeper, DEFAULT_KEEPING } from '../../src/receipts/bodies/keeper.ts';
import { factLine } from '../../src/receipts/journal/fact-line.ts';
import { sift } from '../../src/receipts/journal/sift.ts';
import { Drain } from '../../src/receipts/keeper/drain.ts';
import { closeInterrupted } from '../../src/receipts/keeper/interrupted.ts';
import { startKeeper } from '../../src/receipts/keeper/keeper.ts';
import { openChain } from '../../src/receipts/seal/chain.ts';
import { sealKeysFolder } from '../../src/receipts/seal/seal-keys.ts';
import { verifyStored } from '../../src/receipts/verify/verify-stored.ts';
import { openStore } from '../../src/store/database.ts';
import { chainOf } from '../../src/store/receipts/chain.ts';
import { listReceipts } from '../../src/store/receipts/receipts.ts';
import type { Store } from '../../src/store/store.ts';
import { closeFact, openFact } from '../support/facts.ts';
import { startServe } from '../support/serve.ts';

/** `npm run fuzz` looks at every byte; `npm test` at a part of them, the same ones each time. */
const all = process.env.ABP_FUZZ === 'all';
const STRIDE = all ? 1 : 97;
const STARTS = all ? 200 : 5;
/** Every so many of them start the keeper's thread, as a server does; the others do the same work here. */
const THREADED = all ? 20 : 5;
const PROCESSES = all ? 12 : 1;

const RUNS = Array.from({ length: 50 }, () => newRunId());
const LINES = RUNS.flatMap((run, at) => [
  factLine(openFact({ run, task: `POST /v1/messages → ${'x'.repeat(at)}` })),
  factLine(closeFact({ run, eventCount: at })),
]);
const JOURNAL = `${LINES.join('\n')}\n`;

/** The numbers of a small generator: the same in every run of the suite. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const replaced = (at: number, length: number, by: string): string => JOURNAL.slice(0, at) + by + JOURNAL.slice(at + length);
const otherByte = (at: number, by: number): string => String.fromCharCode((JOURNAL.charCodeAt(at) + by) % 256);

/** The lines that no byte of the range belongs to; the line break behind a line is no part of it. */
function untouched(from: number, to: number): string[] {
  let at = 0;
  return LINES.filter((line) => {
    const [start, end] = [at, at + line.length];
    at = end + 1;
    return to <= start || from >= end;
  });
}

describe('a journal of fifty runs', () => {
  it('loses the lines that a changed, a lost or an added byte is in, and no others, wherever it is', () => {
    const known = new Set(LINES);
    const random = numbers(7);
    const check = (text: string, from: number, to: number): void => {
      const { lines } = sift(Buffer.from(text, 'latin1'), 0);
      expect(lines.filter((line) => !known.has(line))).toEqual([]);
      const found = new Set(lines);
      expect(untouched(from, to).filter((line) => !found.has(line))).toEqual([]);
    };
    for (let at = 0; at < JOURNAL.length; at += STRIDE) {
      check(replaced(at, 1, otherByte(at, 1 + random(255))), at, at + 1);
      check(replaced(at, 1, ''), at, at + 1);
      check(replaced(at, 0, String.fromCharCode(random(256))), at, at + 1);
    }
  }, 600_000);

  it('is drained by a server that starts, whatever was done to it: whole runs are whole, none is invented, the chain verifies', async () => {
    const random = numbers(11);
    for (let round = 0; round < STARTS; round += 1) {
      const { damaged, whole } = damage(round, random);
      await (round % THREADED === 0 ? started : recovered)(damaged, whole);
    }
  }, 600_000);
});

/** A journal that something happened to, and the lines that it happened to none of. */
function damage(round: number, random: (below: number) => number): { readonly damaged: string; readonly whole: readonly string[] } {
  const at = random(JOURNAL.length);
  const length = 1 + random(round % 3 === 0 ? 4000 : 3);
  const all = [
    { damaged: replaced(at, length, Array.from({ length }, () => String.fromCharCode(random(256))).join('')), to: at + length },
    { damaged: replaced(at, length, '\0'.repeat(length)), to: at + length },
    { damaged: replaced(at, length, ''), to: at + length },
    { damaged: replaced(at, 0, JOURNAL.slice(0, length)), to: at + 1 },
    { damaged: JOURNAL.slice(0, at), to: JOURNAL.length },
  ];
  const { damaged, to } = all[round % all.length] ?? { damaged: '', to: 0 };
  return { damaged, whole: untouched(at, to) };
}

describe('every byte of it', () => {
  it('changed, lost or added leaves a journal that a server starts on: recovery sees the lines that are left, and each such set is tried', async () => {
    // What becomes of a journal depends on the lines that are read and on where the gaps are between them, and on nothing else.
    const outcomes = new Map<string, { journal: string; from: number; to: number }>();
    for (let at = 0; at < JOURNAL.length; at += STRIDE) {
      for (const journal of [
        replaced(at, 1, otherByte(at, 1 + (at % 255))),
        replaced(at, 1, ''),
        replaced(at, 0, '\n'),
        JOURNAL.slice(0, at),
      ]) {
        const { lines, damage } = sift(Buffer.from(journal, 'latin1'), 0);
        const cut = journal.length < JOURNAL.length - 1;
        outcomes.set(`${lines.length} ${lines.map((line) => LINES.indexOf(line)).join()} ${damage.length}`, {
          journal,
          from: at,
          to: cut ? JOURNAL.length : at + 1,
        });
      }
    }
    expect(outcomes.size).toBeGreaterThan(all ? 200 : 20);
    const some = [...outcomes.values()].filter((_, at) => all || at % 100 === 0);
    for (const { journal, from, to } of some) await recovered(journal, untouched(from, to));
  }, 1_800_000);

  it('is survived by the process that people start', async () => {
    const random = numbers(17);
    for (let round = 0; round < PROCESSES; round += 1) {
      const at = random(JOURNAL.length);
      const home = join(mkdtempSync(join(tmpdir(), 'abp-damaged-')), 'home');
      const { journalFolder } = openHome({ path: home });
      writeFileSync(join(journalFolder, '00000000000001-1-000001.facts'), replaced(at, 1, otherByte(at, 1 + random(255))), 'latin1');
      const server = await startServe(home);
      const ready = await (await fetch(`${server.url}/readyz`)).json();
      // A line break that became another byte costs nothing: both lines are whole.
      expect(['ok', 'damaged']).toContain((ready as { journal: string }).journal);
      await server.end('SIGTERM');
      await checked(home, untouched(at, at + 1));
      rmSync(dirname(home), { recursive: true, force: true });
    }
  }, 1_800_000);
});

/** A home with its database, before any fact: making one anew takes longer than recovering. */
const template = mkdtempSync(join(tmpdir(), 'abp-template-'));
beforeAll(async () => {
  const home = openHome({ path: template });
  const store = await openStore({ home });
  await openChain(store, home.nodeId, sealKeysFolder(home.path));
  await store.close();
});
afterAll(() => rmSync(template, { recursive: true, force: true }));

/** What the keeper's thread does with a journal when a server starts. */
async function recovered(journal: string, whole: readonly string[]): Promise<void> {
  const path = mkdtempSync(join(tmpdir(), 'abp-damaged-'));
  cpSync(template, path, { recursive: true });
  const home = openHome({ path });
  writeFileSync(join(home.journalFolder, '00000000000001-1-000001.facts'), journal, 'latin1');
  const store = await openStore({ home });
  try {
    const chain = await openChain(store, home.nodeId, sealKeysFolder(home.path));
    const origin = { node: home.nodeId, version: '1' };
    let damaged = false;
    const ignore = (): undefined => undefined;
    const bodies = new BodyKeeper({ store, home, keeping: DEFAULT_KEEPING, onFault: (message) => expect.fail(message) });
    const onDamage = (): void => {
      damaged = true;
    };
    const watched = { onSealed: ignore, onSettled: ignore, onDamage };
    const drain = new Drain({ store, folder: home.journalFolder, origin, chain, bodies, journalSince: Date.now(), ...watched });
    await drain.all();
    await bodies.settlePast();
    await closeInterrupted(store, chain, origin, { now: Date.now(), bodies, damaged });
    await bodies.close();
    await asItWas(store, home.nodeId, whole);
  } finally {
    await store.close();
    rmSync(path, { recursive: true, force: true });
  }
}

async function started(journal: string, whole: readonly string[]): Promise<void> {
  const path = mkdtempSync(join(tmpdir(), 'abp-damaged-'));
  const home = openHome({ path });
  writeFileSync(join(home.journalFolder, '00000000000001-1-000001.facts'), journal, 'latin1');
  const stalls: string[] = [];
  const keeper = startKeeper({
    homePath: path,
    journalFolder: home.journalFolder,
    version: '1',
    onStalled: (message) => stalls.push(message),
    onSettled: () => undefined,
  });
  await keeper.ready;
  await keeper.close();
  expect(stalls).toEqual([]);
  await checked(path, whole);
  rmSync(path, { recursive: true, force: true });
}

async function checked(path: string, whole: readonly string[]): Promise<void> {
  const home = openHome({ path });
  const store = await openStore({ home });
  try {
    await asItWas(store, home.nodeId, whole);
  } finally {
    await store.close();
  }
}

/** Runs whose lines are whole are completed as they were, no other run is there, and the chain verifies. */
async function asItWas(store: Store, node: string, whole: readonly string[]): Promise<void> {
  const { items } = await listReceipts(store, { limit: 100 });
  expect(items.filter(({ runId }) => !RUNS.includes(runId))).toEqual([]);
  const ended = new Map(items.map(({ runId, document }) => [runId, [document.status, document.event_count]]));
  const lines = new Set(whole);
  RUNS.forEach((run, number) => {
    const isWhole = lines.has(LINES[number * 2] ?? '') && lines.has(LINES[number * 2 + 1] ?? '');
    if (isWhole) expect(ended.get(run)).toEqual(['completed', number]);
  });
  expect(await verifyStored(store, await chainOf(store, node))).toMatchObject({ ok: true });
}
