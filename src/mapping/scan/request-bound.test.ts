import { expect, it } from 'vitest';
import { mayGrow, requestBound } from './request-bound.ts';
import { scanBody } from './scan.ts';

const boundOf = (body: object) => {
  const bytes = Buffer.from(JSON.stringify(body));
  return requestBound(bytes, scanBody(bytes));
};

it.each([
  [{ max_tokens: 20 }, { output: 20, answers: 1, ways: [] }],
  [
    { max_tokens: 20, max_completion_tokens: 50 },
    { output: 50, answers: 1, ways: [] },
  ],
  [
    { n: 3, max_tokens: 20 },
    { output: 60, answers: 3, ways: [] },
  ],
  [{ n: 1e9 }, { output: undefined, answers: 128, ways: [] }],
  [
    { n: 'many', max_tokens: -1 },
    { output: undefined, answers: 1, ways: [] },
  ],
  [{ generationConfig: { maxOutputTokens: 10, candidateCount: 4 } }, { output: 40, answers: 4, ways: [] }],
  [{ generation_config: { max_output_tokens: 10 } }, { output: 10, answers: 1, ways: [] }],
  [
    { service_tier: 'priority', speed: 'fast', inference_geo: null },
    { output: undefined, answers: 1, ways: ['priority', 'fast'] },
  ],
])('%j says the most that it may use', (body, bound) => {
  expect(boundOf(body)).toEqual(bound);
});

it.each([
  [{ messages: [{ role: 'user', content: 'hi' }] }, false],
  [{ tools: [{ type: 'function', function: { name: 'read', parameters: { type: 'object', properties: {} } } }] }, false],
  [{ previous_response_id: 'resp_1' }, true],
  [{ prompt: { id: 'pmpt_1' } }, true],
  [{ messages: [{ role: 'user', content: [{ type: 'document', source: { type: 'file', file_id: 'f' } }] }] }, true],
  [{ contents: [{ parts: [{ fileData: { fileUri: 'gs://a/b' } }] }] }, true],
  [{ tools: [{ googleSearch: {} }] }, true],
  [{ tools: [{ type: 'web_search_20250305', name: 'web_search' }] }, true],
])('the vendor may add to the input of %j: %s', (body, expected) => {
  expect(mayGrow(Buffer.from(JSON.stringify(body)))).toBe(expected);
});
