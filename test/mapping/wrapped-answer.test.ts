import { expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/base/json.ts';
import type { Mapping } from '../../src/mapping/mapping.ts';
import { answered } from '../cases/translation.ts';
import { mapTo, targetOf } from '../support/mapping.ts';

const LIST = { type: 'ARRAY', items: { type: 'STRING' } };
const WRAPPED = {
  type: 'object',
  properties: { value: { type: 'array', items: { type: 'string' } } },
  required: ['value'],
  additionalProperties: false,
};

/** A Gemini caller that wants a list. */
function asked(target: string, model: string, responseSchema: JsonObject): Mapping {
  const generationConfig = { responseMimeType: 'application/json', responseSchema };
  return mapTo(targetOf(target, model), 'gemini', { contents: [{ role: 'user', parts: [{ text: 'hi' }] }], generationConfig });
}

function textOf(answer: JsonObject): Json | undefined {
  const [candidate] = answer.candidates as readonly { content: { parts: readonly JsonObject[] } }[];
  return candidate?.content.parts[0]?.text;
}

it('a list is a member of an object for Claude’s forced tool, and a list again for the caller', () => {
  const { upstream, changes, emulations } = asked('claude', 'claude-sonnet-4-5', LIST);
  expect(upstream?.body).toMatchObject({ tools: [{ name: 'json_answer', input_schema: WRAPPED }] });
  expect(emulations.map(({ capability }) => capability)).toContain('structured_output_json_schema');
  const content = [{ type: 'tool_use', id: 't', name: 'json_answer', input: { value: ['a', 'b'] } }];
  const answer = { id: 'm', model: 'm', content, stop_reason: 'tool_use', usage: { input_tokens: 1, output_tokens: 1 } };
  expect(textOf(answered('claude', 'gemini', answer, changes))).toBe('["a","b"]');
});

it('the same goes for the output formats of OpenAI', () => {
  const { upstream, changes, fidelity } = asked('openai:openai-chat', 'gpt-4o', LIST);
  expect(upstream?.body.response_format).toEqual({ type: 'json_schema', json_schema: { name: 'answer', schema: WRAPPED, strict: true } });
  expect(fidelity.find(({ path }) => path === 'generationConfig.responseSchema.type')?.fate).toBe('emulated');
  const message = { role: 'assistant', content: '{"value":["a"]}' };
  const answer = { id: 'c', model: 'm', choices: [{ index: 0, message, finish_reason: 'stop' }] };
  expect(textOf(answered('openai-chat', 'gemini', answer, changes))).toBe('["a"]');
});

it('an object stays as it is', () => {
  const { upstream, changes } = asked('openai:openai-chat', 'gpt-4o', { type: 'OBJECT', properties: { a: { type: 'STRING' } } });
  expect(upstream?.body.response_format).toMatchObject({
    json_schema: { schema: { type: 'object', properties: { a: { type: 'string' } } } },
  });
  expect(changes.some(({ kind }) => kind === 'unwrap')).toBe(false);
});
