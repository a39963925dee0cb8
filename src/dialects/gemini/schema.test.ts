import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../base/json.ts';
import { toOpenApi } from './openapi-schema.ts';
import { toJsonSchema } from './schema.ts';

describe('a schema of the OpenAPI subset as JSON Schema', () => {
  test('has lower-case types, null as a type and numbers for limits', () => {
    expect(
      toJsonSchema({
        type: 'OBJECT',
        property_ordering: ['a'],
        properties: {
          a: { any_of: [{ type: 'STRING' }, { type: 'INTEGER' }], nullable: true },
          b: { type: 'ARRAY', items: { type: 'NUMBER', format: 'double' }, min_items: '2' },
          nullable: { type: 'BOOLEAN', example: true },
        },
      }),
    ).toEqual({
      type: 'object',
      properties: {
        a: { anyOf: [{ type: 'string' }, { type: 'integer' }, { type: 'null' }] },
        b: { type: 'array', items: { type: 'number', format: 'double' }, minItems: 2 },
        nullable: { type: 'boolean', examples: [true] },
      },
    });
  });

  test('lists its properties in the order that was asked for, because models write them in the order of the list', () => {
    const schema = toJsonSchema({
      type: 'OBJECT',
      properties: { answer: { type: 'STRING' }, extra: { type: 'STRING' }, steps: { type: 'STRING' } },
      propertyOrdering: ['steps', 'answer', 'unknown'],
    });
    expect(JSON.stringify(schema)).toBe(
      '{"type":"object","properties":{"steps":{"type":"string"},"answer":{"type":"string"},"extra":{"type":"string"}}}',
    );
  });

  test('leaves a schema that is JSON Schema already as it is', () => {
    const schema = { type: 'object', properties: { some_name: { type: ['string', 'null'] } }, additionalProperties: false };
    expect(toJsonSchema(schema)).toEqual(schema);
  });
});

describe('a JSON Schema in the OpenAPI subset', () => {
  test('follows references and stops at one that contains itself', () => {
    const { schema, lost } = toOpenApi({
      type: 'object',
      properties: { place: { $ref: '#/$defs/place', description: 'where' } },
      $defs: { place: { type: 'object', properties: { inside: { $ref: '#/$defs/place' }, name: { type: 'string' } } } },
    });
    expect(schema).toEqual({
      type: 'OBJECT',
      properties: { place: { type: 'OBJECT', properties: { inside: { type: 'OBJECT' }, name: { type: 'STRING' } }, description: 'where' } },
    });
    expect(lost).toEqual(['$ref']);
  });

  test('turns unions with null into nullable', () => {
    expect(toOpenApi({ anyOf: [{ type: 'string' }, { type: 'null' }] })).toEqual({ schema: { type: 'STRING', nullable: true }, lost: [] });
    expect(toOpenApi({ type: ['integer', 'null'] })).toEqual({ schema: { type: 'INTEGER', nullable: true }, lost: [] });
    expect(toOpenApi({ enum: ['a', null] })).toEqual({ schema: { type: 'STRING', nullable: true, enum: ['a'] }, lost: [] });
  });

  test('names every keyword that has no form', () => {
    expect(toOpenApi({ type: 'number', exclusiveMinimum: 0, multipleOf: 2, enum: [2, 4], $schema: 'x', format: 'float' })).toEqual({
      schema: { type: 'NUMBER' },
      lost: ['enum', 'exclusiveMinimum', 'format', 'multipleOf'],
    });
  });

  test('comes back the same from the subset where nothing was lost', () => {
    const leaf = fc.constantFrom<JsonObject>(
      { type: 'string' },
      { type: 'string', enum: ['a', 'b'] },
      { type: 'integer', minimum: 1 },
      { type: ['boolean', 'null'] },
    );
    const tree = fc.letrec<{ node: JsonObject }>((tie) => ({
      node: fc.oneof(
        { maxDepth: 3 },
        leaf,
        fc.record({ type: fc.constant('array'), items: tie('node') }),
        fc
          .dictionary(fc.constantFrom('a', 'b_c', 'type', 'nullable'), tie('node'), { noNullPrototype: true })
          .map((properties): JsonObject => ({ type: 'object', properties, required: Object.keys(properties) })),
      ),
    })).node;
    fc.assert(
      fc.property(tree, (schema) => {
        const lowered = toOpenApi(schema);
        expect(lowered.lost).toEqual([]);
        expect(toJsonSchema(lowered.schema)).toEqual(schema);
      }),
    );
  });
});
