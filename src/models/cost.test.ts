import { calcPrice, findProvider } from '@pydantic/genai-prices';
import fc from 'fast-check';
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

test('the remembered rates say what the price list says, in every tier', () => {
  const priced = [
    ['anthropic', 'claude-sonnet-4-5'],
    ['anthropic', 'claude-opus-4-8'],
    ['openai', 'gpt-5'],
    ['google', 'gemini-2.5-pro'],
  ] as const;
  const count = fc.nat(400_000);
  fc.assert(
    fc.property(fc.constantFrom(...priced), fc.tuple(count, count, count), count, ([provider, model], [fresh, read, write], output) => {
      const list = findProvider({ providerId: provider });
      const used = { input_tokens: fresh + read + write, output_tokens: output, cache_read_tokens: read, cache_write_tokens: write };
      const price = list === undefined ? null : calcPrice(used, model, { provider: list, timestamp: at });
      const usage = { inputTokens: used.input_tokens, outputTokens: output, cacheReadTokens: read, cacheWriteTokens: write };
      const ours = costOf({ ...usage, webSearchRequests: 0 }, model, provider, at) ?? Number.NaN;
      expect(Math.abs(ours - (price?.total_price ?? 0) * 1e9)).toBeLessThan(1);
    }),
  );
});

test('every usage that an engine may tell has a cost that is neither negative nor refused, however its parts contradict each other', () => {
  const priced = ['google', 'openai', 'anthropic', 'moonshotai'].flatMap((provider) =>
    catalogueOf(provider).map(({ id }): [string, string] => [provider, id]),
  );
  const count = fc.constantFrom(0, 1, 7, 1000, 300_000);
  const details = fc.record(
    {
      cacheWrite1hTokens: count,
      audioInputTokens: count,
      audioCacheReadTokens: count,
      audioOutputTokens: count,
      imageOutputTokens: count,
      fileSearches: count,
      tier: fc.constantFrom('batch', 'flex', 'priority', 'fast'),
    },
    { requiredKeys: [] },
  );
  const counts = { inputTokens: count, outputTokens: count, cacheReadTokens: count, cacheWriteTokens: count, webSearchRequests: count };
  const told = fc.record({ ...counts, details });
  const lists = fc.constantFrom(...priced, ['usd-per-million 1 2 0.1 1.25', 'any'] as [string, string]);
  fc.assert(
    fc.property(lists, told, ([provider, model], usage) => {
      expect(costOf(usage, model, provider, at)).toSatisfy((cost) => cost === undefined || (Number.isFinite(cost) && Number(cost) >= 0));
    }),
    { numRuns: 400 },
  );
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
