import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type JsonTree, jsonTree, repeatedMember } from './json-tree.ts';

function written(tree: JsonTree | undefined): string {
  if (tree === undefined) return 'too deep';
  switch (tree.kind) {
    case 'scalar':
      return tree.text;
    case 'string':
      return JSON.stringify(tree.value);
    case 'array':
      return `[${tree.items.map(written).join(',')}]`;
    case 'object':
      return `{${tree.members.map(([name, value]) => `${JSON.stringify(name)}:${written(value)}`).join(',')}}`;
  }
}

it('a tree holds all of a JSON text', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), fc.constantFrom(undefined, 1, '\t'), (value, space) => {
      expect(written(jsonTree(JSON.stringify(value, null, space)))).toBe(JSON.stringify(value));
    }),
  );
});

it('numbers keep their digits', () => {
  expect(written(jsonTree('{"a": [1.0, 1e+16, 12345678901234567890, -0, true, null]}'))).toBe(
    '{"a":[1.0,1e+16,12345678901234567890,-0,true,null]}',
  );
});

it('a repeated member is named by its path', () => {
  const repeated = (text: string): string | undefined => repeatedMember(jsonTree(text) ?? expect.fail());
  expect(repeated('{"a":1,"b":{"c":[{"d":1},{"e":1,"\\u0065":2}]}}')).toBe('b.c[1].e');
  expect(repeated('{"a":1,"a":1}')).toBe('a');
  expect(repeated('{"a":{"b":1},"b":{"a":1}}')).toBeUndefined();
});

it('a text that is nested too deeply has no tree', () => {
  expect(jsonTree('['.repeat(100_000) + ']'.repeat(100_000))).toBeUndefined();
});
