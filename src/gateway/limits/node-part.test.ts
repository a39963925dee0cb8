import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type NodeUse, partOf } from './node-part.ts';

const WHOLE = { requests_per_minute: 60, tokens_per_minute: 9000, concurrency: 7 };

const nodes = fc
  .uniqueArray(fc.record({ node: fc.string({ minLength: 1, maxLength: 3 }), demand: fc.nat(500), calls: fc.nat(3) }), {
    selector: ({ node }) => node,
    minLength: 1,
    maxLength: 6,
  })
  .filter((all) => all.every(({ demand, calls }) => demand + calls > 0));

const partsOf = (all: readonly NodeUse[], turn: number) =>
  all.map((own) => partOf(WHOLE, own, { others: all.filter((one) => one !== own), live: all.length, turn }));

const sum = (
  parts: readonly { concurrency?: number | undefined; requests_per_minute?: number | undefined }[],
  name: 'concurrency' | 'requests_per_minute',
) => parts.reduce((all, part) => all + (part[name] ?? 0), 0);

describe('the parts of a limit', () => {
  it('are the limit together where all nodes know the same, whatever they use', () => {
    fc.assert(
      fc.property(nodes, fc.nat(100), (all, turn) => {
        const parts = partsOf(all, turn);
        expect(sum(parts, 'requests_per_minute')).toBeCloseTo(60, 6);
        const calls = all.reduce((many, one) => many + one.calls, 0);
        expect(sum(parts, 'concurrency')).toBe(Math.max(7, calls));
        for (const [at, part] of parts.entries()) expect(part.concurrency).toBeGreaterThanOrEqual(all[at]?.calls ?? 0);
      }),
    );
  });

  it('go by where calls come, and leave something to those where few do', () => {
    const [busy, quiet] = partsOf(
      [
        { node: 'a', demand: 100, calls: 0 },
        { node: 'b', demand: 1, calls: 0 },
      ],
      0,
    );
    expect(busy?.requests_per_minute).toBeGreaterThan(55);
    expect(quiet?.requests_per_minute).toBeGreaterThan(3);
  });

  it('are even before a node has heard of others, and all of it where nobody else wants any', () => {
    const own = { node: 'a', demand: 5, calls: 0 };
    expect(partOf(WHOLE, own, { others: undefined, live: 3, turn: 0 })).toEqual({
      requests_per_minute: 20,
      tokens_per_minute: 3000,
      concurrency: 2,
    });
    expect(partOf(WHOLE, own, { others: [], live: 3, turn: 0 })).toEqual(WHOLE);
    expect(partOf(WHOLE, own, { others: [{ node: 'b', demand: 0, calls: 0 }], live: 3, turn: 0 })).toEqual(WHOLE);
  });

  it('let a place that cannot be divided go from node to node', () => {
    const both = ['a', 'b'].map((node) => ({ node, demand: 1, calls: 0 }));
    const at = (turn: number) =>
      both.map((own) => partOf({ concurrency: 1 }, own, { others: both.filter((one) => one !== own), live: 2, turn }).concurrency);
    expect([at(0), at(1), at(2)]).toEqual([
      [1, 0],
      [0, 1],
      [1, 0],
    ]);
  });
});
