import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../base/json.ts';
import { instance, looksLike } from './schema.ts';

const ajv = new Ajv2020({ strict: false, validateFormats: false });

test.each<[JsonObject, unknown]>([
  [{ type: 'string' }, 'sim'],
  [{ type: 'string', minLength: 5 }, 'simxx'],
  [{ type: 'string', maxLength: 2 }, 'si'],
  [{ type: 'string', format: 'date-time' }, '2000-01-01T00:00:00Z'],
  [{ type: 'string', pattern: '^\\d{4}-\\d{2}-\\d{2}$' }, '2000-01-01'],
  [{ type: 'integer' }, 0],
  [{ type: 'integer', minimum: 3, multipleOf: 5 }, 5],
  [{ type: 'integer', exclusiveMaximum: 0 }, -1],
  [{ type: 'number', minimum: 1, exclusiveMinimum: true, maximum: 2 }, 1.25],
  [{ type: ['string', 'null'] }, 'sim'],
  [{ type: 'STRING' }, 'sim'],
  [{ type: 'ARRAY', minItems: '2', items: { type: 'BOOLEAN' } }, [false, false]],
  [{ enum: ['b', 'a'] }, 'b'],
  [{ const: null }, null],
  [{ type: 'object', properties: { a: { type: 'string' }, b: { type: 'null' } }, required: ['b'] }, { b: null }],
  [{ type: 'object', minProperties: 1, properties: { a: { type: 'integer' } } }, { a: 0 }],
  [{ type: 'array', minItems: 2, uniqueItems: true, items: { type: 'string' } }, ['sim', '1-sim']],
  [{ $ref: '#/$defs/a~1b', $defs: { 'a/b': { type: 'boolean' } } }, false],
  [{ allOf: [{ required: ['a'] }, { properties: { a: { minimum: 2 } } }], properties: { a: { type: 'integer' } } }, { a: 2 }],
  [{ anyOf: [{ $ref: '#' }, { type: 'integer' }] }, 0],
  [{}, 'sim'],
])('the smallest value for %j is %j', (schema, value) => {
  expect(instance(schema)).toEqual(value);
});

test('a recursive schema ends at the branch that does not recur', () => {
  const link = { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] };
  const node = {
    type: 'object',
    properties: { left: link, right: link, kids: { type: 'array', items: { $ref: '#/$defs/node' } } },
    required: ['left', 'right', 'kids'],
  };
  expect(instance({ $ref: '#/$defs/node', $defs: { node } })).toEqual({ left: null, right: null, kids: [] });
});

test('references that fan out do not grow without bound', () => {
  const $defs: Record<string, JsonObject> = { d0: { type: 'string' } };
  for (let level = 1; level <= 40; level += 1) {
    const below = { $ref: `#/$defs/d${level - 1}` };
    $defs[`d${level}`] = { type: 'object', properties: { a: below, b: below }, required: ['a', 'b'] };
  }
  expect(instance({ $ref: '#/$defs/d40', $defs })).toBeNull();
});

const closedSchema = { type: 'object', properties: { a: {}, b: {} }, required: ['a'], additionalProperties: false };

test('an object looks like a schema when it has the required keys and no unknown one', () => {
  expect(looksLike({ a: 1 }, closedSchema)).toBe(true);
  expect(looksLike({ b: 1 }, closedSchema)).toBe(false);
  expect(looksLike({ a: 1, c: 1 }, closedSchema)).toBe(false);
  expect(looksLike({ a: 1, c: 1 }, { $ref: '#/$defs/x', $defs: { x: { ...closedSchema, additionalProperties: true } } })).toBe(true);
  expect(looksLike({}, { type: 'array' })).toBe(false);
});

const { schema: anySchema } = fc.letrec<{ schema: JsonObject; leaf: JsonObject; tree: JsonObject }>((tie) => ({
  schema: fc.oneof({ maxDepth: 4, depthIdentifier: 'schema' }, tie('leaf'), tie('tree')),
  leaf: fc.oneof(
    fc.record(
      { type: fc.constant('string'), minLength: fc.nat(9), maxLength: fc.integer({ min: 9, max: 20 }) },
      { requiredKeys: ['type'] },
    ),
    fc
      .tuple(fc.integer({ min: -50, max: 50 }), fc.nat(9))
      .map(([minimum, more]) => ({ type: 'integer', minimum, maximum: minimum + more })),
    fc.integer({ min: -50, max: 50 }).map((bound) => ({ type: 'number', exclusiveMinimum: bound, exclusiveMaximum: bound + 0.5 })),
    fc.record({
      type: fc.constant('integer'),
      multipleOf: fc.integer({ min: 1, max: 9 }),
      exclusiveMinimum: fc.integer({ min: -99, max: 99 }),
    }),
    fc.constantFrom<JsonObject>(
      { type: 'boolean' },
      { type: 'null' },
      { type: ['null', 'string'] },
      { const: { a: [1] } },
      { $ref: '#/$defs/shared' },
    ),
    fc.uniqueArray(fc.oneof(fc.string(), fc.integer()), { minLength: 1, maxLength: 4 }).map((values) => ({ enum: values })),
  ),
  tree: fc.oneof(
    fc.tuple(fc.dictionary(fc.stringMatching(/^[a-z]{1,4}$/), tie('schema'), { maxKeys: 4 }), fc.boolean()).map(([properties, open]) => ({
      type: 'object',
      properties,
      required: Object.keys(properties).filter((_, index) => index % 2 === 0),
      additionalProperties: open,
    })),
    fc.tuple(tie('schema'), fc.nat(3)).map(([items, minItems]) => ({ type: 'array', items, minItems })),
    fc.array(tie('schema'), { minLength: 1, maxLength: 3 }).map((anyOf) => ({ anyOf })),
    tie('schema').map((schema) => ({ allOf: [schema, {}] })),
    tie('leaf').map((schema) => ({ oneOf: [{ type: 'object', properties: { only: schema }, required: ['only'] }, { const: 'never' }] })),
  ),
}));

test('the value made for a schema is valid for it', () => {
  fc.assert(
    fc.property(anySchema, (inner) => {
      const schema = {
        ...inner,
        $defs: { shared: { type: 'object', properties: { id: { type: 'string', minLength: 1 } }, required: ['id'] } },
      };
      const value = instance(schema);
      expect(ajv.validate(schema, value), JSON.stringify({ value, errors: ajv.errors })).toBe(true);
    }),
    { numRuns: 300 },
  );
});
