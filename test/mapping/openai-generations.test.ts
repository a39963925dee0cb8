import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import type { Mapping } from '../../src/mapping/mapping.ts';
import { mapTo, targetOf } from '../support/mapping.ts';

/** What a Claude caller's request becomes on a model of OpenAI. */
function claude(target: string, model: string, members: JsonObject): Mapping {
  const body = { model: 'm', max_tokens: 4000, messages: [{ role: 'user', content: 'hi' }], ...members };
  return mapTo(targetOf(target, model), 'claude', body);
}

it.each([
  ['o3', 'max', 'high'],
  ['gpt-5', 'xhigh', 'high'],
  ['gpt-5.1', 'xhigh', 'high'],
  ['gpt-5.2', 'xhigh', 'xhigh'],
  ['gpt-6-sol', 'max', 'xhigh'],
])('%s gets the effort %s as %s, in both of its dialects', (model, effort, sent) => {
  const asked = { output_config: { effort } };
  expect(claude('openai:openai-chat', model, asked).upstream?.body.reasoning_effort).toBe(sent);
  const { upstream, fidelity } = claude('openai:openai-responses', model, asked);
  expect(upstream?.body.reasoning).toEqual({ effort: sent });
  expect(fidelity.find(({ path }) => path === 'output_config.effort')?.fate).toBe(effort === sent ? 'renamed' : 'emulated');
});

it.each([
  ['gpt-5', 'minimal'],
  ['o3', 'low'],
  ['gpt-5.1', 'none'],
  ['gpt-6-astra', 'low'],
  ['gpt-6-sol', 'none'],
])('%s is told not to think by the effort %s', (model, sent) => {
  expect(claude('openai:openai-chat', model, { thinking: { type: 'disabled' } }).upstream?.body.reasoning_effort).toBe(sent);
});

it('a model of the sixth generation reasons: its sampling is fixed and the state of its reasoning is asked for', () => {
  expect(claude('openai', 'gpt-6.1-sol', { temperature: 0.2 }).error).toMatchObject({ code: 'E001', details: { path: 'temperature' } });
  expect(claude('openai', 'gpt-6.1-sol', {}).upstream?.body.include).toEqual(['reasoning.encrypted_content']);
});

describe('JSON output on Responses', () => {
  const format = (from: string, body: JsonObject): Mapping => mapTo(targetOf('openai:openai-responses', 'gpt-4o'), from, body);
  const contents = [{ role: 'user', parts: [{ text: 'hi' }] }];
  const schema = { type: 'object', properties: { a: { type: 'string' } } };
  const closed = { ...schema, required: ['a'], additionalProperties: false };

  it('has the word in the input without which JSON mode is answered with 400', () => {
    const generationConfig = { responseMimeType: 'application/json' };
    const asked = format('gemini', { contents, generationConfig, systemInstruction: { parts: [{ text: 'Speak JSON.' }] } });
    expect(asked.upstream?.body.input).toEqual([
      { type: 'message', role: 'user', content: 'hi' },
      { type: 'message', role: 'developer', content: 'Answer with a JSON object.' },
    ]);
    expect(asked.fidelity.find(({ path }) => path === 'generationConfig.responseMimeType')?.fate).toBe('emulated');
  });

  it('holds the model to a schema of the strict subset, and asks for any other instead of getting a 400', () => {
    const strictOf = (responseJsonSchema: JsonObject): unknown => {
      const generationConfig = { responseMimeType: 'application/json', responseJsonSchema };
      const { text } = format('gemini', { contents, generationConfig }).upstream?.body ?? {};
      return ((text as JsonObject).format as JsonObject).strict;
    };
    expect([strictOf(closed), strictOf(schema)]).toEqual([true, false]);
  });

  it('leaves a Chat schema that is not called strict as it is', () => {
    const response_format = { type: 'json_schema', json_schema: { name: 'a', schema: closed } };
    const messages = [{ role: 'user', content: 'hi' }];
    expect(format('openai-chat', { model: 'm', messages, response_format }).upstream?.body.text).toEqual({
      format: { type: 'json_schema', name: 'a', schema: closed, strict: false },
    });
  });
});
