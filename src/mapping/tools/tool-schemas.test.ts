import { expect, it } from 'vitest';
import type { JsonObject } from '../../base/json.ts';
import { claude } from '../../dialects/claude/dialect.ts';
import { gemini } from '../../dialects/gemini/dialect.ts';
import type { IrRequest } from '../../ir/request.ts';
import { mendSchemas } from './tool-schemas.ts';

function offering(schema: JsonObject): IrRequest {
  const tool = { kind: 'function', name: 'f', description: 'Looks.', schema, at: 'tools[0]' } as const;
  return { model: 'm', stream: false, messages: [], tools: [tool], stop: [], sampling: {}, vendor: {} };
}

it('a schema that does not say so is an object: arguments always are', () => {
  const { request, notes } = mendSchemas(offering({ properties: { a: { type: 'string' } } }), claude);
  expect([request.tools, notes]).toEqual([
    [
      {
        kind: 'function',
        name: 'f',
        description: 'Looks.',
        schema: { type: 'object', properties: { a: { type: 'string' } } },
        at: 'tools[0]',
      },
    ],
    [],
  ]);
});

it('what the wire refuses at the root of a schema is told in words, and labelled', () => {
  const schema = { type: 'object', properties: { a: {}, b: {} }, anyOf: [{ required: ['a'] }, { required: ['b'] }] };
  const { request, notes } = mendSchemas(offering(schema), claude);
  expect(request.tools).toEqual([
    {
      kind: 'function',
      name: 'f',
      description: 'Looks.\n\nThe input must also match this JSON Schema: {"anyOf":[{"required":["a"]},{"required":["b"]}]}',
      schema: { type: 'object', properties: { a: {}, b: {} } },
      at: 'tools[0]',
    },
  ]);
  expect(notes.map(({ concept, fate, at }) => [concept, fate, at])).toEqual([['tool', 'emulated', 'tools[0]']]);
});

it('alternatives at the root stay on a wire that takes them, and nothing changes in a schema that needs nothing', () => {
  const odd = offering({ anyOf: [{ type: 'object' }] });
  expect(mendSchemas(odd, gemini)).toMatchObject({
    request: { tools: [{ schema: { type: 'object', anyOf: [{ type: 'object' }] } }] },
    notes: [],
  });
  const plain = offering({ type: 'object', properties: { a: { anyOf: [{ type: 'string' }] } } });
  expect(mendSchemas(plain, claude).request).toBe(plain);
});
