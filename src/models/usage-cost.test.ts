import { describe, expect, it } from 'vitest';
import type { ModelCapabilities } from '../contract/runs/coding-agent.ts';
import { bundledModel } from './bundled.ts';
import { anthropic } from './facts/anthropic.ts';
import { google } from './facts/google.ts';
import { openai } from './facts/openai.ts';
import type { ModelFact } from './model-fact.ts';
import { estimateCost, usageCost } from './usage-cost.ts';

const at = new Date('2026-11-15T00:00:00Z');
const model = (fact: ModelFact): ModelCapabilities => bundledModel({ agent: 'a', asOf: '2026-11-15', cliArgKey: '-m' }, { fact });
/** Not in the price data, so that the prices of the row count. */
const own = (rest: Partial<ModelFact>): ModelCapabilities => model({ ...anthropic.opus48, id: 'own-model', provider: 'other', ...rest });

describe('a model in the price data', () => {
  it('costs what the data says, by tier', () => {
    const long = { inputTokens: 300_000, outputTokens: 0 };
    expect(usageCost(model(google.pro25), { inputTokens: 100_000, outputTokens: 0 }, at)).toBeCloseTo(0.125, 9);
    expect(usageCost(model(google.pro25), long, at)).toBeGreaterThan(0.125 * 3);
  });

  it('has the list price that the row shows', () => {
    for (const fact of [...Object.values(anthropic), ...Object.values(openai), ...Object.values(google)]) {
      const row = model(fact);
      const counted = usageCost(row, { inputTokens: 1000, outputTokens: 1000 }, at);
      if (counted !== undefined) expect(counted, fact.id).toBeCloseTo(estimateCost(row, 1000, 1000), 9);
    }
  });
});

describe('a model outside the price data', () => {
  it('bills the cache at its own prices', () => {
    const usage = { inputTokens: 1_000_000, cachedTokens: 400_000, cacheCreationTokens: 100_000, outputTokens: 0 };
    expect(usageCost(own({}), usage, at)).toBeCloseTo(0.5 * 5 + 0.4 * 0.5 + 0.1 * 6.25, 9);
  });

  it('bills thinking as output', () => {
    expect(usageCost(own({}), { inputTokens: 0, outputTokens: 1_000_000, thinkingTokens: 600_000 }, at)).toBeCloseTo(25, 9);
  });

  it('applies a price tier to the whole request, above its limit and not at it', () => {
    const tiered = own({ price: { input: 1, output: 2 }, tiers: [{ inputTokensAbove: 100_000, input: 5, output: 10 }] });
    expect(usageCost(tiered, { inputTokens: 100_000, outputTokens: 0 }, at)).toBeCloseTo(0.1, 9);
    expect(usageCost(tiered, { inputTokens: 100_001, outputTokens: 100_000 }, at)).toBeCloseTo(0.500005 + 1, 9);
  });

  it('never makes a search free', () => {
    expect(usageCost(own({}), { inputTokens: 0, outputTokens: 0, webSearchRequests: 3 }, at)).toBeCloseTo(0.03, 9);
  });
});

it('a model without a price costs nothing that could be named', () => {
  const { price: _none, ...fact } = anthropic.opus48;
  expect(usageCost(model(fact), { inputTokens: 1, outputTokens: 1 }, at)).toBeUndefined();
});
