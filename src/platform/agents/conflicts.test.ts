import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ComposedTool, settleConflicts } from './conflicts.ts';

function tool(capabilityId: string, name: string): ComposedTool {
  return {
    name,
    description: '',
    parameters: { type: 'object' },
    policy: 'auto',
    effect: 'idempotent',
    source: { capabilityId, version: '1.0.0', name },
    execute: async () => ({ output: capabilityId }),
  };
}

const names = (tools: readonly ComposedTool[]): string[] => tools.map(({ name, source }) => `${name} of ${source.capabilityId}`);
const clash = [tool('one', 'add'), tool('one', 'sub'), tool('two', 'add')];

describe('settleConflicts', () => {
  it('changes nothing where every name is there once', () => {
    expect(settleConflicts([tool('a', 'x'), tool('b', 'y')], 'error')).toMatchObject({
      conflicts: [],
      tools: [{ name: 'x' }, { name: 'y' }],
    });
  });

  it('reports a refusal with error', () => {
    expect(settleConflicts(clash, 'error').conflicts).toEqual([{ name: 'add', capabilities: ['one', 'two'], outcome: 'refused' }]);
  });

  it('renames every tool of the name with prefix, and no other', () => {
    expect(names(settleConflicts(clash, 'prefix').tools)).toEqual(['one__add of one', 'sub of one', 'two__add of two']);
  });

  it('finds a free name where the prefixed one is taken or too long', () => {
    const long = 'x'.repeat(60);
    const { tools } = settleConflicts([tool('a', 't'), tool('b', 't'), tool('c', 'a__t'), tool('d', long), tool('e', long)], 'prefix');
    expect(new Set(tools.map(({ name }) => name)).size).toBe(5);
    for (const { name } of tools) expect(name.length).toBeLessThanOrEqual(64);
  });

  it.each([
    ['prefer', ['add of one', 'sub of one']],
    ['prefer:two', ['add of two', 'sub of one']],
    ['prefer:other', ['add of one', 'sub of one']],
  ] as const)('keeps one tool of the name with %s', (policy, kept) => {
    const { tools, conflicts } = settleConflicts(clash, policy);
    expect(names(tools).toSorted()).toEqual(kept.toSorted());
    expect(conflicts).toMatchObject([{ name: 'add', outcome: 'preferred' }]);
  });

  it('leaves every name once whatever the tools are', () => {
    const tools = fc.array(
      fc.tuple(fc.constantFrom('a', 'b', 'a__x'), fc.constantFrom('x', 'y', 'a__x', 'b__x')).map(([id, name]) => tool(id, name)),
    );
    fc.assert(
      fc.property(tools, fc.constantFrom('prefix', 'prefer', 'prefer:b' as const), (given, policy) => {
        const { tools: settled } = settleConflicts(given, policy);
        expect(new Set(settled.map(({ name }) => name)).size).toBe(settled.length);
      }),
    );
  });
});
