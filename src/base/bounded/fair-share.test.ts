import fc from 'fast-check';
import { expect, it } from 'vitest';
import { FairShare } from './fair-share.ts';

function taken(share: FairShare, caller: string): number {
  let count = 0;
  while (share.refusal(caller) === undefined) {
    share.take(caller);
    count += 1;
  }
  return count;
}

it('leaves a quarter to others, and a part of that to those who come after them', () => {
  const share = new FairShare(64);
  expect(['a', 'b', 'c'].map((caller) => taken(share, caller))).toEqual([48, 12, 3]);
  expect(share.refusal('a')).toBe('share');
  expect(share.refusal('d')).toBeUndefined();
});

it.each([1, 2, 3])('lets one caller have all of %s', (limit) => {
  const share = new FairShare(limit);
  expect(taken(share, 'a')).toBe(limit);
  expect(share.refusal('b')).toBe('full');
});

it('is empty again when all is given back, in any order', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.integer({ min: 1, max: 30 }))), (asks) => {
      const share = new FairShare(100);
      const had = asks.filter(([caller, amount]) => {
        const free = share.refusal(caller, amount) === undefined;
        if (free) share.take(caller, amount);
        return free;
      });
      expect(share.held).toBeLessThanOrEqual(100);
      for (const [caller, amount] of had) share.release(caller, amount);
      expect([share.held, share.heldBy('a'), share.heldBy('b'), share.heldBy('c')]).toEqual([0, 0, 0, 0]);
    }),
  );
});
