import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { BodyBudget } from './body-budget.ts';
import { decompress } from './decoding.ts';

const MIB = 1024 * 1024;

it.each([
  ['gzip', gzipSync],
  ['br', brotliCompressSync],
  ['zstd', zstdCompressSync],
] as const)('a body of %s counts with what comes out of it', async (encoding, encode) => {
  const budget = new BodyBudget(64 * MIB);
  const holding = budget.holding('key');
  const text = Buffer.alloc(MIB, 'x');
  expect((await decompress(encode(text), encoding, { most: 2 * MIB, holding })).equals(text)).toBe(true);
  expect(budget.held).toBe(MIB);
  holding.release();
  expect(budget.held).toBe(0);
});

it('a bomb is stopped at the limit of one body', async () => {
  const holding = new BodyBudget(64 * MIB).holding('key');
  const bomb = decompress(gzipSync(Buffer.alloc(10 * MIB)), 'gzip', { most: MIB, holding });
  await expect(bomb).rejects.toMatchObject({ code: 'payload_too_large' });
});

it('many bombs at once stay within the memory for bodies, and leave some of it to other callers', async () => {
  const budget = new BodyBudget(8 * MIB);
  const bomb = gzipSync(Buffer.alloc(4 * MIB));
  let most = 0;
  const all = Array.from({ length: 60 }, async () => {
    const holding = budget.holding('one');
    const done = await decompress(bomb, 'gzip', { most: 4 * MIB, holding }).catch((error: unknown) => error);
    most = Math.max(most, budget.held);
    await new Promise(setImmediate);
    holding.release();
    return done;
  });
  await Promise.all(all);
  expect(most).toBeGreaterThan(MIB);
  expect(most).toBeLessThanOrEqual(6 * MIB);
  expect(budget.held).toBe(0);
});

it('a body that is not what it says is an error of its own', async () => {
  const holding = new BodyBudget(MIB).holding('key');
  await expect(decompress(Buffer.from('no'), 'gzip', { most: MIB, holding })).rejects.toThrow('incorrect header');
});
