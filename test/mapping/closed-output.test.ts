import { describe, expect, it } from 'vitest';
import { mapTo, targetOf } from '../support/mapping.ts';

const thinking = (schema: object) => ({
  contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
  generationConfig: {
    thinkingConfig: { thinkingBudget: 2048, includeThoughts: true },
    responseMimeType: 'application/json',
    responseJsonSchema: schema,
  },
});
const to = (schema: object) => mapTo(targetOf('claude', 'claude-sonnet-4-5'), 'gemini', thinking(schema) as never); // plain JSON

describe('a schema with thinking on Claude, which takes closed objects only', () => {
  it('is closed, inside too, and the record says so', () => {
    const inner = { type: 'object', properties: { b: { type: 'string' } } };
    const { upstream, fidelity, error } = to({ type: 'object', properties: { a: inner, properties: { enum: [inner] } }, required: ['a'] });
    expect(error).toBeUndefined();
    expect(upstream?.body.output_config).toEqual({
      format: {
        type: 'json_schema',
        schema: {
          type: 'object',
          properties: { a: { ...inner, additionalProperties: false }, properties: { enum: [inner] } },
          required: ['a'],
          additionalProperties: false,
        },
      },
    });
    expect(fidelity).toContainEqual(expect.objectContaining({ fate: 'emulated', code: 'schema_closed' }));
  });

  it('that is closed passes as it is', () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false };
    const { upstream, fidelity } = to(schema);
    expect(upstream?.body.output_config).toEqual({ format: { type: 'json_schema', schema } });
    expect(fidelity.filter(({ code }) => code === 'schema_closed')).toEqual([]);
  });

  it.each([
    ['any object', { type: 'object' }],
    ['a map', { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: { type: 'number' } }],
    ['a limit', { type: 'object', properties: { a: { type: 'number', minimum: 1 } }, additionalProperties: false }],
  ])('is E003 where closing would change what it says, or is not enough: %s', (_, schema) => {
    expect(to(schema).error?.code).toBe('E003');
  });
});
