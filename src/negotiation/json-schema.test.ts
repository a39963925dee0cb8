import { describe, expect, it } from 'vitest';
import { processorMs } from '../../test/support/processor-time.ts';
import type { Json, JsonObject } from '../base/json.ts';
import { schemaProblem } from './json-schema.ts';

describe('schemaProblem', () => {
  it.each<[string, JsonObject, Json]>([
    ['an empty schema', {}, 'anything'],
    ['definitions of draft 2020-12', { $ref: '#/$defs/n', $defs: { n: { type: 'integer' } } }, 3],
    ['an explicit draft 2020-12', { $schema: 'https://json-schema.org/draft/2020-12/schema', prefixItems: [{ type: 'string' }] }, ['a']],
    ['draft 7', { $schema: 'http://json-schema.org/draft-07/schema#', items: [{ type: 'string' }] }, ['a']],
    ['a keyword nobody knows', { type: 'string', 'x-order': ['a'] }, 'a'],
    ['a format, which is only an annotation', { type: 'string', format: 'date' }, 'not a date'],
  ])('has nothing to say about %s', (_, schema, value) => {
    expect(schemaProblem(schema, value)).toBeUndefined();
  });

  it.each<[string, JsonObject, Json, string]>([
    ['a type', { type: 'string' }, 1, 'value must be string'],
    ['a nested member', { properties: { a: { items: { type: 'integer' } } } }, { a: [1, 'x'] }, 'value/a/1 must be integer'],
    ['an enum', { enum: ['a', 'b'] }, 'c', 'value must be equal to one of the allowed values'],
    [
      'a tuple of draft 7',
      { $schema: 'http://json-schema.org/draft-07/schema#', items: [{ type: 'string' }] },
      [1],
      'value/0 must be string',
    ],
    ['a member every object inherits', { required: ['constructor'] }, {}, "value must have required property 'constructor'"],
    ['a schema that calls itself asynchronous', { $async: true, type: 'string' }, 1, 'value must be string'],
  ])('finds the mismatch of %s', (_, schema, value, problem) => {
    expect(schemaProblem(schema, value)).toBe(problem);
  });

  it.each<[string, JsonObject, string]>([
    ['an unknown type', { type: 'strng' }, 'the schema cannot be used: type must be JSONType or JSONType[]: strng'],
    [
      'a reference to somewhere else',
      { $ref: 'https://example.com/s' },
      "the schema cannot be used: can't resolve reference https://example.com/s from id #",
    ],
  ])('says that a schema with %s cannot be used', (_, schema, problem) => {
    expect(schemaProblem(schema, {})).toBe(problem);
  });

  it('two callers may use the same $id for different schemas', () => {
    expect(schemaProblem({ $id: 'answer', type: 'string' }, 'a')).toBeUndefined();
    expect(schemaProblem({ $id: 'answer', type: 'integer' }, 'a')).toBe('value must be integer');
  });

  it('a pattern that backtracks for ever is given up', () => {
    const check = (): void =>
      expect(schemaProblem({ pattern: '^(a+)+$' }, `${'a'.repeat(60)}b`)).toBe('checking it took longer than 250 ms');
    expect(processorMs(check)).toBeLessThan(5000);
    expect(schemaProblem({ type: 'string' }, 'still works')).toBeUndefined();
  });
});
