import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { newRunId } from '../../src/contract/run-id.ts';
import { openHome } from '../../src/home/home.ts';
import { factLine } from '../../src/receipts/journal/fact-line.ts';
import { sift } from '../../src/receipts/journal/sift.ts';
import { startKeeper } from '../../src/receipts/keeper/keeper.ts';
import { verifyStored } from '../../src/receipts/verify/verify-stored.ts';
import { openStore } from '../../src/store/database.ts';
import { chainOf } from '../../src/store/receipts/chain.ts';
import { listReceipts } from '../../src/store/receipts/receipts.ts';
import { closeFact, openFact } from '../support/facts.ts';

/** `npm run fuzz` looks at every byte; `npm test` at a part of them, the same ones each time. */
const all = process.env.ABP_FUZZ === 'all';
const STRIDE = all ? 1 : 97;
const STARTS = all ? 200 : 5;

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
      const at = random(JOURNAL.length);
      const length = 1 + random(round % 3 === 0 ? 4000 : 3);
      const damaged = [
        replaced(at, length, Array.from({ length }, () => String.fromCharCode(random(256))).join('')),
        replaced(at, length, '\0'.repeat(length)),
        replaced(at, length, ''),
        replaced(at, 0, JOURNAL.slice(0, length)),
        JOURNAL.slice(0, at),
      ][round % 5];
      const cut = round % 5 === 4;
      await started(damaged ?? '', untouched(at, cut ? JOURNAL.length : at + (round % 5 === 3 ? 1 : length)));
    }
  }, 600_000);
});

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
  const store = await openStore({ home });
  try {
    const { items } = await listReceipts(store, { limit: 100 });
    expect(stalls).toEqual([]);
    expect(items.filter(({ runId }) => !RUNS.includes(runId))).toEqual([]);
    const ended = new Map(items.map(({ runId, document }) => [runId, [document.status, document.event_count]]));
    const lines = new Set(whole);
    RUNS.forEach((run, number) => {
      const isWhole = lines.has(LINES[number * 2] ?? '') && lines.has(LINES[number * 2 + 1] ?? '');
      if (isWhole) expect(ended.get(run)).toEqual(['completed', number]);
    });
    expect(await verifyStored(store, await chainOf(store, home.nodeId))).toMatchObject({ ok: true });
  } finally {
    await store.close();
    rmSync(path, { recursive: true, force: true });
  }
}
