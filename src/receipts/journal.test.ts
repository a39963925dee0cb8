import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { closeFact, openFact } from '../../test/support/facts.ts';
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
  journal.append(openFact({ task: 'x'.repeat(17 * 1024 * 1024) }));
  journal.append(openFact({ task: 'second' }));
  journal.close();
  journal.append(openFact({ task: 'third' }));
  journal.close();
  expect(segments().map((name) => /-(\d{6})\.facts$/.exec(name)?.[1])).toEqual(['000001', '000002', '000003']);
  expect(segments().map((name) => JSON.parse(linesOf(name)[0]?.split('\t')[4] ?? '').slice(0, 6))).toEqual(['xxxxxx', 'second', 'third']);
});

it('throws when a fact cannot be written', () => {
  const journal = new Journal(join(folder, 'gone'));
  expect(() => journal.append(openFact())).toThrow('ENOENT');
});
