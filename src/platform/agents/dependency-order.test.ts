import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dependencyOrder } from './dependency-order.ts';

const order = (ids: readonly string[], graph: Readonly<Record<string, readonly string[]>>): string[] =>
  dependencyOrder(ids, (id) => graph[id] ?? []);

describe('dependencyOrder', () => {
  it('keeps the given order where nothing depends on anything', () => {
    expect(order(['c', 'a', 'b'], {})).toEqual(['c', 'a', 'b']);
  });

  it('puts what is depended on right before what first needs it', () => {
    expect(order(['x', 'a', 'b'], { a: ['d'], b: ['d', 'e'] })).toEqual(['x', 'd', 'a', 'e', 'b']);
  });

  it('moves a listed dependency forward, and nothing else', () => {
    expect(order(['a', 'x', 'b'], { a: ['b'] })).toEqual(['b', 'a', 'x']);
  });

  it.each([
    [['a'], { a: ['a'] }, 'a → a'],
    [['a'], { a: ['b'], b: ['c'], c: ['b'] }, 'b → c → b'],
  ])('refuses the circle of %j in %j', (ids, graph, path) => {
    expect(() => order(ids, graph)).toThrow(path);
  });

  it('orders every graph without circles: each once, dependencies first, the same every time', () => {
    // Edges go to greater numbers only, so there is no circle.
    const graphs = fc.array(fc.tuple(fc.nat(9), fc.nat(9)), { maxLength: 30 }).map((edges) => {
      const graph: Record<string, string[]> = {};
      for (const [one, other] of edges) if (one < other) graph[one] = [...(graph[one] ?? []), String(other)];
      return graph;
    });
    fc.assert(
      fc.property(graphs, fc.uniqueArray(fc.nat(9).map(String)), (graph, ids) => {
        const result = order(ids, graph);
        expect(new Set(result).size).toBe(result.length);
        for (const id of ids) expect(result).toContain(id);
        for (const id of result)
          for (const dependency of graph[id] ?? []) expect(result.indexOf(dependency)).toBeLessThan(result.indexOf(id));
        expect(order(ids, graph)).toEqual(result);
      }),
    );
  });
});
