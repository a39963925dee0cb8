import fc from 'fast-check';
import { expect, it } from 'vitest';
import { fairPart, largerPart } from './lease-share.ts';

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
          one.granted = largerPart(
            fairPart({ limits: { requests: limit }, used: of(one.used), wanted: of(wanted), others, live }),
            one.granted,
          );
          expect(nodes.reduce((sum, other) => sum + other.granted.requests, 0)).toBeLessThanOrEqual(limit);
        }
      },
    ),
  );
});

it('gives all to a node that is alone, and half of the rest to one of two', () => {
  const ask = { limits: { requests: 50 }, used: of(10), wanted: of(0), others: of(0) };
  expect(fairPart({ ...ask, live: 1 }).requests).toBe(50);
  expect(fairPart({ ...ask, live: 2 }).requests).toBe(30);
  expect(fairPart({ ...ask, live: 2, wanted: of(100) }).requests).toBe(50);
  expect(fairPart({ ...ask, live: 2, others: of(45) }).requests).toBe(10);
});
