import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { closeFact, openFact, runIdOf } from '../../test/support/facts.ts';
import { Journal } from '../receipts/journal/journal.ts';
import { Batch, type Step } from './batch.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'abp-batch-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const turnEnd = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const linesWritten = (): number =>
  readdirSync(folder).reduce((sum, name) => sum + readFileSync(join(folder, name), 'utf8').split('\n').length - 1, 0);

/** A step that appends one fact and notes what happens to it, with the lines on disk at that moment. */
function step(journal: Journal, name: string, told: string[], changes: Partial<Step> = {}): Step {
  return {
    record: () => journal.append(openFact({ run: runIdOf('0190a1b2c3d47e5f8a9b0c1d2e3f4a5b'), task: name })),
    proceed: () => void told.push(`${name} goes on at ${linesWritten()}`),
    fail: (error) => void told.push(`${name} failed at ${linesWritten()}: ${error instanceof Error ? error.message : error}`),
    ...changes,
  };
}

it('writes the facts of all steps at once, then lets them go on, those that end first', async () => {
  const writes: number[] = [];
  const journal = new Journal(folder, { onWritten: (facts) => void writes.push(facts.length) });
  const batch = new Batch(journal);
  const told: string[] = [];
  batch.open(step(journal, 'a', told));
  batch.close(step(journal, 'b', told));
  batch.open(step(journal, 'c', told));
  expect(told).toEqual([]);
  await turnEnd();
  expect(told).toEqual(['b goes on at 3', 'a goes on at 3', 'c goes on at 3']);
  expect(writes).toEqual([3]);
  batch.open(step(journal, 'd', told));
  await turnEnd();
  expect(told.at(-1)).toBe('d goes on at 4');
  journal.close();
});

it('fails a step that throws, after the write, and no other', async () => {
  const journal = new Journal(folder);
  const batch = new Batch(journal);
  const told: string[] = [];
  const refuse = (): never => {
    throw new Error('no');
  };
  batch.open(step(journal, 'a', told, { record: refuse }));
  batch.open(step(journal, 'b', told, { proceed: refuse }));
  batch.open(step(journal, 'c', told));
  await turnEnd();
  expect(told).toEqual(['c goes on at 2', 'a failed at 2: no', 'b failed at 2: no']);
  journal.close();
});

it('lets no call begin whose facts cannot be written, and lets those end that are under way', async () => {
  const journal = new Journal(join(folder, 'gone'));
  const batch = new Batch(journal);
  const told: string[] = [];
  batch.open(step(journal, 'a', told));
  batch.close(step(journal, 'b', told, { record: () => journal.append(closeFact()) }));
  await turnEnd();
  expect(told).toEqual(['b goes on at 0', expect.stringMatching(/^a failed at 0: The journal of this server cannot be written.*ENOENT/)]);
  journal.close();
});
