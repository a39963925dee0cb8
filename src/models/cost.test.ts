import { expect, test } from 'vitest';
import { catalogueOf } from './catalogue.ts';
import { costOf } from './cost.ts';

const at = new Date('2026-11-01T00:00:00Z');
const none = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, webSearchRequests: 0 };

test('tokens are billed at the list price of the model', () => {
  expect(costOf({ ...none, inputTokens: 1000, outputTokens: 100 }, 'claude-sonnet-4-5', 'anthropic', at)).toBe(4_500_000);
});

test('tokens read from the cache cost a tenth on Claude', () => {
  expect(costOf({ ...none, inputTokens: 1000, cacheReadTokens: 1000 }, 'claude-sonnet-4-5', 'anthropic', at)).toBe(300_000);
});

test('a web search costs ten dollars per thousand, never nothing', () => {
  expect(costOf({ ...none, webSearchRequests: 1 }, 'claude-sonnet-4-5', 'anthropic', at)).toBe(10_000_000);
});

test('a grounded search of Gemini costs what Google takes for it', () => {
  expect(costOf({ ...none, webSearchRequests: 1 }, 'gemini-2.5-flash', 'google', at)).toBe(35_000_000);
  expect(costOf({ ...none, webSearchRequests: 1 }, 'gemini-3-pro-preview', 'google', at)).toBe(14_000_000);
});

test('a model without a price has no cost rather than a cost of zero', () => {
  expect(costOf({ ...none, inputTokens: 1000 }, 'no-such-model', 'anthropic', at)).toBeUndefined();
});

test('the catalogue lists chat models only', () => {
  const ids = catalogueOf('openai').map(({ id }) => id);
  expect(ids).toContain('gpt-5');
  expect(ids.filter((id) => id.includes('embedding'))).toEqual([]);
  expect(catalogueOf('nobody')).toEqual([]);
});
