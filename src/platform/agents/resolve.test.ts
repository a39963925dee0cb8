import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AgentCapability, CapabilityDependency } from './capability.ts';
import { type CapabilitySource, dependencyOrder, resolveCapabilities, type Selection } from './resolve.ts';

function capability(id: string, version: string, dependencies: CapabilityDependency[] = []): AgentCapability {
  return { id, name: id, description: id, status: 'available', version, dependencies, tools: () => [] };
}

function source(...all: AgentCapability[]): CapabilitySource {
  return {
    versionsOf: async (id) => all.filter((one) => one.id === id),
    knownIds: async () => all.map(({ id }) => id),
  };
}

async function chosen(from: CapabilitySource, ...selections: Selection[]): Promise<string[]> {
  return (await resolveCapabilities(from, selections)).map((one) => `${one.capability.id}@${one.capability.version}`);
}

describe('resolveCapabilities', () => {
  it('takes the highest version that fits everybody', async () => {
    const all = source(
      capability('a', '1.0.0'),
      capability('a', '1.10.0'),
      capability('a', '1.9.0'),
      capability('a', '2.0.0'),
      capability('b', '1.0.0', [{ id: 'a', range: '^1.0.0' }]),
    );
    expect(await chosen(all, { id: 'a' })).toEqual(['a@2.0.0']);
    expect(await chosen(all, { id: 'a', version: '~1.9.0' })).toEqual(['a@1.9.0']);
    expect(await chosen(all, { id: 'b' })).toEqual(['a@1.10.0', 'b@1.0.0']);
    expect(await chosen(all, { id: 'b' }, { id: 'a', version: '<1.10.0' })).toEqual(['a@1.9.0', 'b@1.0.0']);
  });

  it('drops the wishes of a version that gave way', async () => {
    const all = source(
      capability('top', '2.0.0', [{ id: 'extra', range: '*' }]),
      capability('top', '1.0.0'),
      capability('extra', '1.0.0'),
      capability('user', '1.0.0', [{ id: 'top', range: '^1.0.0' }]),
    );
    expect(await chosen(all, { id: 'top' })).toEqual(['extra@1.0.0', 'top@2.0.0']);
    expect(await chosen(all, { id: 'user' }, { id: 'top' })).toEqual(['top@1.0.0', 'user@1.0.0']);
  });

  it('says which wishes cannot be met together', async () => {
    const all = source(capability('a', '1.0.0'), capability('b', '1.0.0', [{ id: 'a', range: '^2.0.0' }]));
    await expect(chosen(all, { id: 'b' })).rejects.toMatchObject({
      code: 'unprocessable',
      message: 'No version of a fits: b asks for ^2.0.0; there is 1.0.0.',
    });
  });

  it('gives up on versions that chase each other', async () => {
    const all = source(
      capability('a', '1.0.0', [{ id: 'b', range: '2.0.0' }]),
      capability('a', '2.0.0', [{ id: 'b', range: '1.0.0' }]),
      capability('b', '1.0.0', [{ id: 'a', range: '1.0.0' }]),
      capability('b', '2.0.0', [{ id: 'a', range: '2.0.0' }]),
    );
    await expect(chosen(all, { id: 'a' })).rejects.toMatchObject({ code: 'unprocessable' });
  });

  it('fills settings with the defaults of the schema, at every depth', async () => {
    const schema = {
      type: 'object',
      properties: {
        a: { type: 'integer', default: 1 },
        deep: { type: 'object', default: {}, properties: { b: { type: 'string', default: 'x' }, c: { type: 'string' } } },
      },
    };
    const all = source({ ...capability('s', '1.0.0'), configSchema: schema });
    const config = async (given?: Selection['config']): Promise<unknown> =>
      (await resolveCapabilities(all, [{ id: 's', config: given }]))[0]?.config;
    expect(await config()).toEqual({ a: 1, deep: { b: 'x' } });
    expect(await config({ a: 5, deep: { c: 'y' } })).toEqual({ a: 5, deep: { b: 'x', c: 'y' } });
    await expect(config({ a: 'five' })).rejects.toMatchObject({ code: 'unprocessable', message: expect.stringContaining('value/a') });
  });
});

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
