import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { closeFact, openFact } from '../../../test/support/facts.ts';
import { factLine } from './fact-line.ts';
import { Journal } from './journal.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'abp-journal-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const segments = (): string[] => readdirSync(folder).sort();
const linesOf = (name: string): string[] => readFileSync(join(folder, name), 'utf8').split('\n');

it('has each fact on disk, as one line, before append returns', () => {
  const journal = new Journal(folder);
  const odd = openFact({ task: 'a\n\tb\u2028é\ud800' });
  journal.append(odd);
  const [name = ''] = segments();
  expect(linesOf(name)).toEqual([factLine(odd), '']);
  journal.append(closeFact());
  expect(linesOf(name)).toEqual([factLine(odd), factLine(closeFact()), '']);
  journal.close();
});

it('makes no file before the first fact, and one that only its owner can read', () => {
  const journal = new Journal(folder);
  expect(segments()).toEqual([]);
  journal.append(openFact());
  expect(segments()).toHaveLength(1);
  expect(statSync(join(folder, segments()[0] ?? '')).mode & 0o777).toBe(0o600);
  journal.close();
});

it('begins a new segment when one is full or was closed, in an order that sorts by age', () => {
  const journal = new Journal(folder);
  journal.append(openFact({ task: 'xxxxxx', tags: ['x'.repeat(17 * 1024 * 1024)] }));
  journal.append(openFact({ task: 'second' }));
  journal.close();
  journal.append(openFact({ task: 'third' }));
  journal.close();
  expect(segments().map((name) => /-(\d{6})\.facts$/.exec(name)?.[1])).toEqual(['000001', '000002', '000003']);
  expect(segments().map((name) => /"(xxxxxx|second|third)/.exec(linesOf(name)[0] ?? '')?.[1])).toEqual(['xxxxxx', 'second', 'third']);
});

it('refuses a beginning that cannot be written, in words', () => {
  const journal = new Journal(join(folder, 'gone'));
  expect(() => journal.append(openFact())).toThrow(
    'The journal of this server cannot be written, and no call is made without a record: ENOENT',
  );
  journal.close();
});

it('goes on in another segment when it is told to, at once, and makes none for nothing', () => {
  const journal = new Journal(folder);
  journal.rotate();
  expect(segments()).toEqual([]);
  journal.append(openFact({ task: 'first' }));
  journal.rotate();
  expect(segments().map((name) => linesOf(name).length)).toEqual([2, 1]);
  journal.append(openFact({ task: 'second' }));
  expect(segments().map((name) => linesOf(name).length)).toEqual([2, 2]);
  journal.close();
});

describe('a full disk', () => {
  let full: boolean;
  let faults: (string | undefined)[];
  let journal: Journal;
  beforeEach(() => {
    full = false;
    faults = [];
    const write = (fd: number, bytes: Buffer): number => {
      if (full) throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
      return writeSync(fd, bytes);
    };
    journal = new Journal(folder, { write, onFault: (message) => faults.push(message) });
  });
  afterEach(() => journal.close());

  const written = (): string[] =>
    segments().flatMap((name) =>
      linesOf(name)
        .filter((line) => line !== '')
        .map((line) => line.split('\t')[0] ?? ''),
    );

  it('refuses beginnings, holds ends, and writes them when there is room', () => {
    journal.append(openFact());
    full = true;
    expect(() => journal.append(openFact())).toThrow('no space left on device');
    journal.append(closeFact());
    expect(written()).toEqual(['open5']);
    expect(faults[0]).toBe('the journal cannot be written: ENOSPC: no space left on device, write');
    full = false;
    journal.append(openFact());
    expect(written()).toEqual(['open5', 'close5', 'open5']);
    expect(faults.at(-1)).toBeUndefined();
  });

  it('is noticed to be over without a new call', async () => {
    full = true;
    expect(() => journal.append(openFact())).toThrow('ENOSPC');
    await expect.poll(() => faults.length, { timeout: 60_000 }).toBeGreaterThan(1);
    expect(faults).not.toContain(undefined);
    full = false;
    await expect.poll(() => faults.at(-1), { timeout: 60_000 }).toBeUndefined();
    expect(segments().filter((name) => name.includes('probe'))).toEqual([]);
  });

  it('ends the segment whose last line it tore', () => {
    let tear = false;
    const write = (fd: number, bytes: Buffer): number => writeSync(fd, tear ? bytes.subarray(0, 40) : bytes);
    const torn = new Journal(folder, { write });
    torn.append(openFact());
    tear = true;
    expect(() => torn.append(openFact())).toThrow('only a part of a line was taken');
    tear = false;
    torn.append(openFact());
    torn.close();
    expect(segments().map((name) => linesOf(name).map((line) => line.length > 40))).toEqual([
      [true, false],
      [true, false],
    ]);
  });
});
