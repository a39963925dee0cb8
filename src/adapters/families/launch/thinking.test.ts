import { expect, it } from 'vitest';
import { planOf } from '../../../../test/support/dialogue.ts';
import { thinkingWish, unknownOverrides } from './thinking.ts';

it('says nothing when nothing was asked for', () => {
  expect(thinkingWish(planOf('pi'))).toBeUndefined();
});

it.each([
  [{ thinkingEffort: 'high' }, { level: 'high', unknown: [] }],
  [{ thinkingBudgetTokens: 500 }, { level: 'low', budgetTokens: 500, unknown: [] }],
  [
    { thinkingBudgetTokens: 8192, thinkingEffort: 'low' },
    { level: 'medium', budgetTokens: 8192, unknown: [] },
  ],
  [{ thinkingBudgetTokens: 40_000 }, { level: 'max', budgetTokens: 40_000, unknown: [] }],
  [
    { thinkingEffort: 'low', thinkingOverride: { reasoning_effort: 'max' } },
    { level: 'max', unknown: [] },
  ],
  [
    { thinkingEffort: 'low', thinkingOverride: { budget_tokens: 20_000 } },
    { level: 'high', budgetTokens: 20_000, unknown: [] },
  ],
] as const)('reads %j', (options, wish) => {
  expect(thinkingWish(planOf('pi', options))).toEqual(wish);
});

it('keeps the number of the normalised parameters beside a level', () => {
  expect(thinkingWish(planOf('pi', { thinkingEffort: 'high' }, { thinking: { budget_tokens: 32_768 } }))).toEqual({
    level: 'high',
    tokens: 32_768,
    unknown: [],
  });
});

it('names the parameters that reach nobody', () => {
  expect(
    unknownOverrides(thinkingWish(planOf('pi', { thinkingOverride: { some_future_param: true } }))).map(({ option }) => option),
  ).toEqual(['thinkingOverride.some_future_param']);
});
