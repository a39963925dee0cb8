import { expect, it } from 'vitest';
import { findDialect } from '../dialects/index.ts';
import { findEngine } from '../engines/index.ts';
import { patchThinking, type ThinkingOverride } from './thinking-override.ts';

function patched(
  [dialectId, engineId, model]: [string, string, string],
  body: Record<string, unknown>,
  override: ThinkingOverride,
): unknown {
  const dialect = findDialect(dialectId);
  const engine = findEngine(engineId);
  if (dialect === undefined || engine === undefined) throw new Error('no such dialect or engine');
  const result = patchThinking({ body: body as never, dialect, engine, model, address: { model }, override });
  return [result.body, result.fidelity.map(({ path }) => path)];
}

const messages = [{ role: 'user', content: 'hi' }];

it('changes the thinking of a Claude request and leaves the rest as it stands, unknown members included', () => {
  const body = { zeta: 1, model: 'claude-opus-4-6', max_tokens: 4096, messages, context_management: { edits: [] } };
  expect(patched(['claude', 'claude', 'claude-opus-4-6'], body, { effort: 'low' })).toEqual([
    { ...body, output_config: { effort: 'low' } },
    ['output_config'],
  ]);
  expect(patched(['claude', 'claude', 'claude-opus-4-6'], body, { budgetTokens: 2000 })).toEqual([
    { ...body, thinking: { type: 'enabled', budget_tokens: 2000 } },
    ['thinking'],
  ]);
});

it('sets adaptive thinking and an effort where the model answers 400 to a budget', () => {
  const body = { model: 'claude-opus-4-8', max_tokens: 4096, messages };
  expect(patched(['claude', 'claude', 'claude-opus-4-8'], body, { budgetTokens: 2000 })).toEqual([
    { ...body, thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'low' } },
    ['thinking', 'output_config'],
  ]);
});

it('raises a token limit that a budget would fill', () => {
  const body = { model: 'm', max_tokens: 1000, messages };
  expect(patched(['claude', 'claude', 'm'], body, { budgetTokens: 2000 })).toMatchObject([
    { max_tokens: 3000, thinking: { budget_tokens: 2000 } },
    ['max_tokens', 'thinking'],
  ]);
});

it('speaks Responses and Chat', () => {
  const reasoning = { effort: 'high', summary: 'auto' };
  expect(patched(['openai-responses', 'openai', 'gpt-5'], { model: 'gpt-5', input: 'hi', reasoning }, { effort: 'low' })).toMatchObject([
    { reasoning: { effort: 'low', summary: 'auto' } },
    ['reasoning.effort'],
  ]);
  expect(patched(['openai-chat', 'openai', 'gpt-5'], { model: 'gpt-5', messages }, { effort: 'low' })).toMatchObject([
    { reasoning_effort: 'low' },
    ['reasoning_effort'],
  ]);
});

it('speaks Gemini', () => {
  const body = {
    contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
    generationConfig: { thinkingConfig: { thinkingBudget: 8192, includeThoughts: true } },
  };
  expect(patched(['gemini', 'gemini', 'gemini-2.5-pro'], body, { budgetTokens: 1024 })).toMatchObject([
    { generationConfig: { thinkingConfig: { thinkingBudget: 1024 } } },
    ['generationConfig.thinkingConfig'],
  ]);
});

it('changes nothing when nothing is decided', () => {
  const body = { model: 'm', max_tokens: 9, messages };
  expect(patched(['claude', 'claude', 'm'], body, {})).toEqual([body, []]);
});

it('leaves nothing of a form that the model does not take', () => {
  const budget = { model: 'claude-opus-4-8', max_tokens: 64_000, messages, thinking: { type: 'enabled', budget_tokens: 4096 } };
  expect(patched(['claude', 'claude', 'claude-opus-4-8'], budget, { effort: 'medium', budgetTokens: 8192 })).toMatchObject([
    { thinking: { type: 'adaptive' }, output_config: { effort: 'medium' }, max_tokens: 64_000 },
    ['thinking', 'output_config'],
  ]);
  const adaptive = {
    ...budget,
    model: 'claude-sonnet-4-5',
    thinking: { type: 'adaptive', display: 'omitted' },
    output_config: { effort: 'high' },
  };
  expect(patched(['claude', 'claude', 'claude-sonnet-4-5'], adaptive, { effort: 'low', budgetTokens: 1024 })).toEqual([
    { ...budget, model: 'claude-sonnet-4-5', thinking: { type: 'enabled', budget_tokens: 1024, display: 'omitted' } },
    ['thinking', 'output_config.effort'],
  ]);
});
