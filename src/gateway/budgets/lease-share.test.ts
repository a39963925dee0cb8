import fc from 'fast-check';
import { expect, it } from 'vitest';
import { partOf } from './lease-share.ts';

const of = (requests: number) => ({ nanoUsd: 0, tokens: 0, requests });

it('never grants more than there is, whatever nodes ask for and in whatever order', () => {
  const step = fc.record({ node: fc.nat(3), uses: fc.nat(20), wanted: fc.nat(40) });
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 200 }),
      fc.integer({ min: 1, max: 4 }),
      fc.array(step, { maxLength: 60 }),
      (limit, live, steps) => {
        const nodes = Array.from({ length: 4 }, () => ({ used: 0, granted: of(0) }));
        for (const { node, uses, wanted } of steps) {
          const one = nodes[node] ?? { used: 0, granted: of(0) };
          one.used = Math.min(one.granted.requests, one.used + uses);
          const others = of(nodes.reduce((sum, other) => sum + (other === one ? 0 : other.granted.requests), 0));
          const used = of(one.used);
          one.granted = partOf({ limits: { requests: limit }, settled: used, used, wanted: of(wanted), others, live }, one.granted);
          expect(nodes.reduce((sum, other) => sum + other.granted.requests, 0)).toBeLessThanOrEqual(limit);
        }
      },
    ),
  );
});

it('gives all to a node that is alone, and half of the rest to one of two', () => {
  const ask = { limits: { requests: 50 }, settled: of(10), used: of(10), wanted: of(0), others: of(0) };
  expect(partOf({ ...ask, live: 1 }).requests).toBe(50);
  expect(partOf({ ...ask, live: 2 }).requests).toBe(30);
  expect(partOf({ ...ask, live: 2, wanted: of(100) }).requests).toBe(50);
  expect(partOf({ ...ask, live: 2, others: of(45) }).requests).toBe(10);
});

it('leaves out what the last call has reserved beyond the budget, until that is spent', () => {
  const ask = { limits: { requests: 50 }, settled: of(29), used: of(31), wanted: of(0), others: of(20), live: 2 };
  expect(partOf(ask).requests).toBe(30);
  expect(partOf(ask, of(31)).requests).toBe(30);
  expect(partOf({ ...ask, settled: of(31) }).requests).toBe(31);
});
