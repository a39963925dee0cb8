import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import type { TrafficRow } from '../../src/contract/runs/run-traffic.ts';
import type { Mapping } from '../../src/mapping/mapping.ts';
import { type MappingOptions, mapTo, targetOf } from '../support/mapping.ts';

/** What a Chat caller's request becomes on a Claude model. */
function chat(model: string, members: JsonObject, options: MappingOptions = {}): Mapping {
  const body = { model: 'm', max_completion_tokens: 4000, messages: [{ role: 'user', content: 'hi' }], ...members };
  return mapTo(targetOf('claude', model), 'openai-chat', body, options);
}

function sampling({ upstream, error }: Mapping): unknown {
  if (error !== undefined) return [error.code, error.details.path];
  return [upstream?.body.temperature, upstream?.body.top_p];
}

describe('sampling', () => {
  it.each(['claude-opus-4-7', 'claude-opus-4-8', 'claude-sonnet-5', 'claude-sonnet-5-5', 'claude-haiku-5-5', 'claude-fable-5-1'])(
    'is fixed on %s: the usual values are left out, all others are refused before a call',
    (model) => {
      expect(sampling(chat(model, { temperature: 1, top_p: 1 }))).toEqual([undefined, undefined]);
      expect(sampling(chat(model, { temperature: 0.2 }))).toEqual(['E001', 'temperature']);
      expect(sampling(chat(model, { top_p: 0.5 }))).toEqual(['E001', 'top_p']);
    },
  );

  it.each(['claude-opus-4-1', 'claude-opus-4-5', 'claude-sonnet-4-5', 'claude-haiku-4-5-20251001', 'claude-sonnet-4-6'])(
    'is a temperature or a top_p on %s, and one that says nothing gives way',
    (model) => {
      expect(sampling(chat(model, { temperature: 0.2, top_p: 1 }))).toEqual([0.2, undefined]);
      expect(sampling(chat(model, { temperature: 1, top_p: 0.9 }))).toEqual([undefined, 0.9]);
      expect(sampling(chat(model, { temperature: 0.2 }))).toEqual([0.2, undefined]);
      expect(sampling(chat(model, { temperature: 0.2, top_p: 0.9 }))).toEqual(['E001', 'top_p']);
    },
  );

  it('is both on the models before', () => {
    expect(sampling(chat('claude-sonnet-4-0', { temperature: 0.2, top_p: 0.9 }))).toEqual([0.2, 0.9]);
  });

  it('gives way where a coding agent sets it by habit', () => {
    const habit = (path: string): TrafficRow => ({ feature: path, path, fate: 'dropped', reason: 'a habit' });
    const traffic = [habit('temperature'), habit('top_p')];
    expect(sampling(chat('claude-opus-4-8', { temperature: 0.2, top_p: 0.9 }, { traffic }))).toEqual([undefined, undefined]);
    const both = chat('claude-sonnet-4-5', { temperature: 0.2, top_p: 0.9 }, { traffic });
    expect(sampling(both)).toEqual([0.2, undefined]);
    expect(both.fidelity).toContainEqual(expect.objectContaining({ path: 'top_p', fate: 'dropped', code: 'one_of_two' }));
  });
});

describe('thinking', () => {
  const thoughts = (thinkingBudget: number): JsonObject => ({
    contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
    generationConfig: { maxOutputTokens: 9000, thinkingConfig: { thinkingBudget, includeThoughts: true } },
  });

  it('is adaptive, shown and of the nearest effort where a budget is answered with 400', () => {
    const { upstream, fidelity } = mapTo(targetOf('claude', 'claude-opus-4-8'), 'gemini', thoughts(4096));
    expect(upstream?.body).toMatchObject({ thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'medium' } });
    const path = 'generationConfig.thinkingConfig.thinkingBudget';
    expect(fidelity).toContainEqual(expect.objectContaining({ path, fate: 'emulated', code: 'thinking_as_adaptive' }));
  });

  it('is the budget on the models before', () => {
    const { upstream } = mapTo(targetOf('claude', 'claude-opus-4-6'), 'gemini', thoughts(4096));
    expect(upstream?.body.thinking).toMatchObject({ type: 'enabled', budget_tokens: 4096 });
  });
});

describe('effort', () => {
  it.each([
    ['claude-opus-4-5', 'max', 'high'],
    ['claude-opus-4-6', 'xhigh', 'high'],
    ['claude-opus-4-6', 'max', 'max'],
    ['claude-opus-4-8', 'xhigh', 'xhigh'],
  ])('on %s %s is sent as %s', (model, asked, sent) => {
    const { upstream, fidelity } = chat(model, { reasoning_effort: asked });
    expect(upstream?.body.output_config).toEqual({ effort: sent });
    expect(fidelity.find(({ path }) => path === 'reasoning_effort')?.fate).toBe(asked === sent ? 'renamed' : 'emulated');
  });

  it('leaves room for the answer where it becomes a budget, and gives way to a limit with no room for thinking', () => {
    expect(chat('claude-sonnet-4-5', { reasoning_effort: 'high' }).upstream?.body.thinking).toEqual({
      type: 'enabled',
      budget_tokens: 3200,
    });
    const small = chat('claude-sonnet-4-5', { reasoning_effort: 'high', max_completion_tokens: 500 });
    expect([small.error, small.upstream?.body.max_tokens, small.upstream?.body.thinking]).toEqual([undefined, 500, undefined]);
    expect(small.fidelity.find(({ path }) => path === 'reasoning_effort')?.fate).toBe('emulated');
  });
});

it('a stop sequence of blanks, which Claude answers with 400, is cut at by the gateway', () => {
  const blank = chat('claude-sonnet-4-5', { stop: ['\n', 'END'] });
  expect([blank.upstream?.body.stop_sequences, blank.changes.find(({ kind }) => kind === 'stop-cut')]).toEqual([
    undefined,
    { kind: 'stop-cut', stop: ['\n', 'END'] },
  ]);
  expect(chat('claude-sonnet-4-5', { stop: ['END'] }).upstream?.body.stop_sequences).toEqual(['END']);
});

it('a conversation that ends with the assistant is refused before a call by models that answer it with 400', () => {
  const messages = [
    { role: 'user', content: 'hi' },
    { role: 'assistant', content: 'Well,' },
  ];
  expect(chat('claude-opus-4-6', { messages }).error).toMatchObject({ code: 'E001', details: { path: 'messages[1]' } });
  expect(chat('claude-sonnet-4-5', { messages }).upstream?.body.messages).toEqual(messages);
});
