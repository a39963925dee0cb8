import { describe, expect, it } from 'vitest';
import { findAdapter } from '../../src/adapters/index.ts';
import { normaliseThinking, type ThinkingWishes } from '../../src/adapters/thinking.ts';
import type { ModelCapabilities } from '../../src/contract/runs/coding-agent.ts';

function native(agent: string, wishes: ThinkingWishes): { native: object; notes: readonly string[] } {
  const adapter = findAdapter(agent)!;
  const model: ModelCapabilities | undefined = adapter.models.find(({ modelId }) => modelId === (wishes.model ?? adapter.defaultModelId));
  return normaliseThinking({ adapter, ...(model !== undefined && { model }) }, wishes);
}

/** Section 8.1: low, medium, high, max. */
describe('section 8.1', () => {
  it.each([
    ['claude', 'claude-sonnet-4-5', 'budget_tokens', [1024, 8192, 32768, 63999]],
    ['codex', 'gpt-6-sol', 'reasoning_effort', ['low', 'medium', 'high', 'high']],
    ['gemini', 'gemini-2.5-pro', 'thinkingBudget', [1024, 8192, 32768, 32768]],
    ['omp', 'anthropic/claude-sonnet-4-5', 'budget_tokens', [1024, 8192, 32768, 63999]],
    ['cursor', 'sonnet-4.5-thinking', 'budget_tokens', [1024, 8192, 32768, 63999]],
    ['opencode', 'anthropic/claude-sonnet-4-5', 'budget_tokens', [1024, 8192, 32768, 63999]],
    ['opencode', 'openai/gpt-6-sol', 'reasoning_effort', ['low', 'medium', 'high', 'high']],
    ['pi', 'google/gemini-2.5-pro', 'thinkingBudget', [1024, 8192, 32768, 32768]],
    ['openclaw', 'openai/gpt-6-luna', 'reasoning_effort', ['low', 'medium', 'high', 'high']],
  ] as const)('%s on %s', (agent, model, parameter, values) => {
    const found = (['low', 'medium', 'high', 'max'] as const).map((thinkingEffort) => native(agent, { model, thinkingEffort }).native);
    expect(found).toEqual(values.map((value) => ({ [parameter]: value })));
  });

  it.each(['copilot', 'hermes'])('%s has no thinking: nothing is passed on, and that is said', (agent) => {
    expect(native(agent, { thinkingEffort: 'high' }).native).toEqual({});
    expect(native(agent, { thinkingEffort: 'high' }).notes).toHaveLength(1);
  });

  it('an agent that thinks since its profile was written uses its own words', () => {
    const adapter = findAdapter('copilot')!;
    const effective = { ...adapter.capabilities, ...adapter.detect.effective('1.0.102') };
    expect(normaliseThinking({ adapter, effective }, { thinkingEffort: 'max' })).toEqual({
      native: { reasoning_effort: 'high' },
      notes: ['max is sent as high: there is no separate tier'],
    });
  });

  it('max is what the model can think at most, where it takes no budget', () => {
    expect(native('claude', { model: 'claude-opus-5-5', thinkingEffort: 'max' }).native).toEqual({ budget_tokens: 127999 });
    expect(native('claude', { thinkingEffort: 'max' }).native).toEqual({ budget_tokens: 127999 });
  });

  it('a level above the range of the model is clamped, and that is said', () => {
    expect(native('claude', { model: 'claude-opus-4-20250514', thinkingEffort: 'high' })).toEqual({
      native: { budget_tokens: 31999 },
      notes: ["high asks for 32768 tokens; model 'claude-opus-4-20250514' takes 31999"],
    });
  });

  it('max without any model to ask is the budget of high, and that is said', () => {
    expect(native('omp', { thinkingEffort: 'max' })).toEqual({
      native: { budget_tokens: 32768 },
      notes: ['max is sent as 32768 tokens: no model is known that says more'],
    });
  });
});

describe('section 8.2', () => {
  it.each([
    ['claude', 'claude-sonnet-4-5', { budget_tokens: 5000 }],
    ['gemini', 'gemini-2.5-pro', { thinkingBudget: 5000 }],
    ['omp', 'openai/gpt-6-sol', { budget_tokens: 5000 }],
    ['pi', 'anthropic/claude-sonnet-4-5', { budget_tokens: 5000 }],
    ['codex', 'gpt-6-sol', {}],
    ['copilot', 'gpt-6-sol', {}],
    ['hermes', 'openai/gpt-6-sol', {}],
    ['opencode', 'openai/gpt-6-sol', {}],
  ])('%s on %s passes a budget on as %j', (agent, model, expected) => {
    expect(native(agent, { model, thinkingBudgetTokens: 5000 }).native).toEqual(expected);
  });

  it('a budget that is not passed on is said', () => {
    expect(native('codex', { thinkingBudgetTokens: 5000 }).notes).toEqual([
      'thinkingBudgetTokens 5000 is not passed on: there are levels only',
    ]);
  });

  it('a budget beats an effort', () => {
    expect(native('claude', { thinkingEffort: 'low', thinkingBudgetTokens: 5000 }).native).toEqual({ budget_tokens: 5000 });
  });
});

describe('section 8.3', () => {
  it('the override is merged on top and always wins', () => {
    const wishes: ThinkingWishes = { thinkingEffort: 'high', thinkingOverride: { budget_tokens: 50000, some_future_param: true } };
    expect(native('claude', wishes).native).toEqual({ budget_tokens: 50000, some_future_param: true });
  });

  it('what the override does not name stays', () => {
    expect(native('claude', { thinkingEffort: 'high', thinkingOverride: { other: 1 } }).native).toEqual({ budget_tokens: 32768, other: 1 });
  });

  it('the merge is shallow', () => {
    const wishes: ThinkingWishes = { thinkingOverride: { nested: { a: 1 } } };
    expect(native('gemini', wishes).native).toEqual({ nested: { a: 1 } });
  });
});
