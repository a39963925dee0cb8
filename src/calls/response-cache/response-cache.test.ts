import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { sha256 } from '../../base/canonical-json.ts';
import { DiskCache } from './disk-cache.ts';
import type { KeptResponse } from './kept-response.ts';
import { ResponseCache } from './response-cache.ts';

const KIB = 1024;
const clock = { time: Date.now(), now: () => clock.time };
const place = (name: string, ttlMs = 60_000) => ({ key: sha256(name), ttlMs });
const response = (bytes: number, fill = 'a'): KeptResponse => ({
  status: 200,
  headers: ['content-type', 'application/json'],
  body: Buffer.alloc(bytes, fill),
  events: 1,
});

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'abp-cache-'));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return join(made, 'cache');
}

const onFault = (error: unknown): never => {
  throw error;
};

it('keeps an answer for its time and no longer', () => {
  const cache = new ResponseCache({ memoryBytes: 64 * KIB, answerBytes: 64 * KIB, clock });
  cache.put(place('a'), response(10));
  expect(cache.get(place('a'))).toEqual(response(10));
  clock.time += 59_999;
  expect(cache.get(place('a'))).toEqual(response(10));
  clock.time += 1;
  expect(cache.get(place('a'))).toBeUndefined();
});

it('never takes more memory than it may: the answer that nobody asked for longest makes room', () => {
  const cache = new ResponseCache({ memoryBytes: 40 * KIB, answerBytes: 64 * KIB, clock });
  for (const name of ['a', 'b', 'c']) cache.put(place(name), response(10 * KIB));
  cache.get(place('a'));
  cache.put(place('d'), response(10 * KIB));
  expect(['a', 'b', 'c', 'd'].map((name) => cache.get(place(name)) !== undefined)).toEqual([true, false, true, true]);
  cache.put(place('e'), response(50 * KIB));
  expect(cache.get(place('e'))).toBeUndefined();
});

it('keeps answers on the disk over a restart, in the space that they may take', async () => {
  const path = folder();
  const disk = new DiskCache(path, 40 * KIB, onFault);
  const cache = new ResponseCache({ memoryBytes: 0, answerBytes: 64 * KIB, disk, clock });
  for (const name of ['a', 'b', 'c', 'd']) cache.put(place(name), response(10 * KIB, name));
  await disk.settled();
  expect(readdirSync(path).sort()).toEqual(['b', 'c', 'd'].map((name) => sha256(name)).sort());
  const later = new ResponseCache({ memoryBytes: 64 * KIB, answerBytes: 64 * KIB, disk: new DiskCache(path, 40 * KIB, onFault), clock });
  expect(await later.get(place('a'))).toBeUndefined();
  expect(await later.get(place('d'))).toEqual(response(10 * KIB, 'd'));
  clock.time += 60_001;
  expect(await later.get(place('c'))).toBeUndefined();
});

it('gives nothing that is not what was kept, and clears away what it does not know', async () => {
  const path = folder();
  const disk = new DiskCache(path, 64 * KIB, onFault);
  const cache = new ResponseCache({ memoryBytes: 0, answerBytes: 64 * KIB, disk, clock });
  cache.put(place('a', 3_600_000), response(100));
  await disk.settled();
  writeFileSync(join(path, sha256('a')), '{"status":200,"headers":[],"events":1,"sha256":"00"}\nforged');
  writeFileSync(join(path, `${sha256('b')}.new`), 'half');
  expect(await cache.get(place('a'))).toBeUndefined();
  await disk.settled();
  const again = new DiskCache(path, 64 * KIB, onFault);
  await again.settled();
  expect(readdirSync(path)).toEqual([]);
});
