import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import type { Mapping } from '../../src/mapping/mapping.ts';
import { mapTo, OPTED_IN, targetOf } from '../support/mapping.ts';

const messages = [{ role: 'user', content: 'hi' }];

function thinkingConfig(model: string, from: string, members: JsonObject): unknown {
  const { upstream, error } = mapTo(targetOf('gemini', model), from, { model: 'm', messages, ...members }, { emulate: OPTED_IN });
  expect(error).toBeUndefined();
  const config = upstream?.body.generationConfig as JsonObject;
  return config.thinkingConfig;
}

it.each([
  ['gemini-3-flash-preview', 'minimal', 'MINIMAL'],
  ['gemini-3.7-flash', 'minimal', 'LOW'],
  ['gemini-3.1-pro-preview', 'minimal', 'LOW'],
  ['gemini-3.1-pro-preview', 'medium', 'MEDIUM'],
  ['gemini-3-pro-preview', 'none', 'LOW'],
  ['gemini-3-pro-preview', 'medium', 'HIGH'],
])('%s gets the effort %s as the level %s, which it takes', (model, effort, thinkingLevel) => {
  expect(thinkingConfig(model, 'openai-chat', { reasoning_effort: effort })).toEqual({ thinkingLevel });
});

it.each([
  ['gemini-2.5-pro', 60_000, 32_768],
  ['gemini-2.5-flash', 60_000, 24_576],
  ['gemini-2.5-flash-lite', 2048, 2048],
])('%s gets a budget of %i as one of %i, which it takes', (model, budget_tokens, thinkingBudget) => {
  const asked = { max_tokens: 64_000, thinking: { type: 'enabled', budget_tokens } };
  expect(thinkingConfig(model, 'claude', asked)).toEqual({ includeThoughts: true, thinkingBudget });
});

it('a model that cannot stop thinking thinks as little as it can', () => {
  const asked = { max_tokens: 9, thinking: { type: 'disabled' } };
  expect(thinkingConfig('gemini-2.5-pro', 'claude', asked)).toEqual({ thinkingBudget: 128 });
  expect(thinkingConfig('gemini-2.5-flash', 'claude', asked)).toEqual({ thinkingBudget: 0 });
});

describe('JSON output beside functions', () => {
  const response_format = { type: 'json_schema', json_schema: { name: 'a', description: 'A place', schema: { type: 'object' } } };
  const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }];

  it('is a forced function, labelled, on a model that answers 400 to both', () => {
    const { upstream, emulations } = mapTo(targetOf('gemini', 'gemini-2.5-pro'), 'openai-chat', {
      model: 'm',
      messages,
      response_format,
      tools,
    });
    expect(upstream?.body).toMatchObject({
      tools: [{ functionDeclarations: [{ name: 'look' }, { name: 'json_answer', description: 'A place' }] }],
      toolConfig: { functionCallingConfig: { mode: 'ANY' } },
    });
    expect(upstream?.body.generationConfig).toBeUndefined();
    expect(emulations.map(({ capability }) => capability)).toEqual(['structured_output_json_schema']);
  });

  it('is the engine’s own where the model has both, or there is no function', () => {
    const own = { responseMimeType: 'application/json', responseJsonSchema: { description: 'A place', type: 'object' } };
    const newer = mapTo(targetOf('gemini', 'gemini-3-pro'), 'openai-chat', { model: 'm', messages, response_format, tools });
    expect([newer.upstream?.body.generationConfig, newer.emulations]).toEqual([own, []]);
    const alone = mapTo(targetOf('gemini', 'gemini-2.5-pro'), 'openai-chat', { model: 'm', messages, response_format });
    expect([alone.upstream?.body.generationConfig, alone.emulations]).toEqual([own, []]);
  });
});

describe('search beside functions', () => {
  const search = { type: 'web_search' };
  const look = { type: 'function', name: 'look', parameters: { type: 'object' }, strict: false };
  const asked = (model: string, members: JsonObject): Mapping =>
    mapTo(targetOf('gemini', model), 'openai-responses', { model: 'm', input: 'hi', store: false, ...members });

  it('is asked for in the one way that newer models take', () => {
    expect(asked('gemini-3-pro', { tools: [search, look], tool_choice: 'auto' }).upstream?.body).toMatchObject({
      tools: [{ functionDeclarations: [{ name: 'look' }] }, { googleSearch: {} }],
      toolConfig: { functionCallingConfig: { mode: 'VALIDATED' }, includeServerSideToolInvocations: true },
    });
    expect(asked('gemini-3-pro', { tools: [search] }).upstream?.body).not.toHaveProperty('toolConfig');
  });

  it('is refused before a call for models that answer 400 to both, and so is JSON beside search', () => {
    expect(asked('gemini-2.5-pro', { tools: [search, look] }).error).toMatchObject({ code: 'E002', details: { tool_name: 'web_search' } });
    const json = asked('gemini-2.5-pro', { tools: [search], text: { format: { type: 'json_object' } } });
    expect(json.error).toMatchObject({ code: 'E001', details: { path: 'text.format.type' } });
    expect(asked('gemini-2.5-pro', { tools: [search] }).upstream?.body.tools).toEqual([{ googleSearch: {} }]);
  });
});
