import { expect, it } from 'vitest';
import { Spending } from './spending.ts';

it('adds up calls and tells the cost so far', () => {
  const spending = new Spending();
  spending.add({ inputTokens: 10, outputTokens: 2, cacheReadTokens: 5, usd: 0.25 });
  expect(spending.add({ inputTokens: 20, outputTokens: 3, thinkingTokens: 1, cacheReadTokens: 6, cacheWriteTokens: 7, usd: 0.5 })).toEqual([
    { type: 'token_usage', inputTokens: 20, outputTokens: 3, thinkingTokens: 1, cachedTokens: 6 },
    {
      type: 'cost',
      cost: {
        totalUsd: 0.75,
        inputTokens: 30,
        outputTokens: 5,
        thinkingTokens: 1,
        cachedTokens: 11,
        cacheReadTokens: 11,
        cacheCreationTokens: 7,
      },
    },
  ]);
});

it('tells no cost where no price is known', () => {
  const spending = new Spending();
  expect(spending.add({ inputTokens: 10, outputTokens: 2, usd: 0 })).toEqual([{ type: 'token_usage', inputTokens: 10, outputTokens: 2 }]);
  expect(spending.cost()).toBeUndefined();
});
