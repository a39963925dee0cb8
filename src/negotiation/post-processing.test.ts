import { describe, expect, it } from 'vitest';
import { extractJson, jsonProblem } from './post-processing.ts';

const schema = {
  type: 'object',
  properties: { city: { type: 'string' }, degrees: { type: 'integer' } },
  required: ['city', 'degrees'],
  additionalProperties: false,
};

const fenced = 'Here it is:\n\n```json\n{"city": "Bern", "degrees": 21}\n```\nAnything else?';

describe('the JSON of an answer', () => {
  it.each([
    ['bare JSON', '{"city":"Bern","degrees":21}'],
    ['bare JSON with white space around it', '\r\n  {"city":"Bern","degrees":21}\n\n'],
    ['one fenced block between prose', fenced],
    ['a fenced block without a language', '```\n{"city":"Bern","degrees":21}\n```'],
    ['a fenced block with Windows line ends', '```json\r\n{"city":"Bern","degrees":21}\r\n```\r\n'],
    ['a fenced block that the answer does not close', '```json\n{"city":"Bern","degrees":21}'],
    ['words around it', 'It is {"city":"Bern","degrees":21}, as far as I {the model} know.'],
    ['a sentence with a quote in it', 'The "city}" is {"city":"Bern","degrees":21}'],
    ['a fenced block that begins behind words', 'Sure: ```json\n{"city":"Bern","degrees":21}\n``` Bye!'],
    ['a fenced block that ends behind the JSON', '```json\n{"city":"Bern",\n"degrees":21}```'],
    ['an indented fenced block', 'So:\n  ```json\n  {"city":"Bern",\n   "degrees":21}\n  ```'],
  ])('is read from %s', (_, text) => {
    expect(extractJson(text)).toEqual({ ok: true, value: { city: 'Bern', degrees: 21 } });
  });

  it('keeps backticks inside a string of the block', () => {
    expect(extractJson('```json\n{"a":"```"}\n```')).toEqual({ ok: true, value: { a: '```' } });
  });

  it.each([
    ['prose', 'It is warm.', /^the answer is not JSON: /],
    ['nothing', '', /^the answer is not JSON: /],
    ['prose with braces', 'Use {} or {this}.', /^the answer is not JSON: /],
    ['two objects', '{"city":"Bern"} or {"city":"Basel"}', /^the answer holds 2 JSON objects, one is expected$/],
    ['many braces', '{'.repeat(200_000), /^the answer is not JSON: /],
    ['JSON that was cut off', '{"city":"Be', /^the answer is not JSON: /],
    ['a block that is not JSON', '```json\n{city: Bern}\n```', /^the fenced block is not JSON: /],
    ['two blocks', `${fenced}\n${fenced}`, /^the answer holds 2 fenced blocks, one is expected$/],
  ])('is not found in %s', (_, text, problem) => {
    expect(extractJson(text)).toEqual({ ok: false, problem: expect.stringMatching(problem) });
  });
});

it.each([
  ['a wrong type', '{"city":"Bern","degrees":"21"}', 'the answer does not fit: value/degrees must be integer'],
  ['a missing member', '{"city":"Bern"}', "the answer does not fit: value must have required property 'degrees'"],
])('an answer with %s does not fit its schema', (_, text, problem) => {
  expect(jsonProblem(text, schema)).toBe(problem);
});

it('an answer fits its schema, however long its numbers are', () => {
  expect(jsonProblem('{"city":"Bern","degrees":123456789012345678901}', schema)).toBeUndefined();
});

it('JSON mode wants an object', () => {
  expect(jsonProblem('{}', undefined)).toBeUndefined();
  expect(jsonProblem('[1, 2]', undefined)).toBe('JSON mode promises an object');
});
