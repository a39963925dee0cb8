import { THINKING_EFFORT_LEVELS } from '../../contract/runs/coding-agent.ts';
import type { ListPrice, ModelFact, PriceTier } from '../model-fact.ts';

// Limits and prices: the price data this package depends on and the lists that Codex 0.169.0 and pi 1.5.2 carry, 2026-11-20.

const LONG = 272_000;

/** Above 272,000 tokens of input everything costs double, output one and a half times. */
function longPrompts({ input, output, cached, cacheWrite }: ListPrice): PriceTier[] {
  return [
    {
      inputTokensAbove: LONG,
      input: input * 2,
      output: output * 1.5,
      ...(cached === undefined ? {} : { cached: cached * 2 }),
      ...(cacheWrite === undefined ? {} : { cacheWrite: cacheWrite * 2 }),
    },
  ];
}

function gpt(id: string, name: string, rest: Partial<ModelFact> = {}): ModelFact {
  return {
    id,
    name,
    provider: 'openai',
    protocol: 'responses',
    contextWindow: 1_050_000,
    maxOutputTokens: 128_000,
    ...(rest.price === undefined ? {} : { tiers: longPrompts(rest.price) }),
    // There is no budget; max is sent as high.
    thinking: { levels: THINKING_EFFORT_LEVELS },
    images: true,
    files: true,
    jsonMode: true,
    structuredOutput: true,
    ...rest,
  };
}

function flatPrice(id: string, name: string, rest: Partial<ModelFact> & { readonly price: ListPrice }): ModelFact {
  return gpt(id, name, { tiers: [], ...rest });
}

/** A model that answers without thinking. */
function plain(id: string, name: string, rest: Partial<ModelFact> & { readonly price: ListPrice }): ModelFact {
  const { thinking: _none, ...fact } = flatPrice(id, name, rest);
  return fact;
}

const oSeries = { contextWindow: 200_000, maxOutputTokens: 100_000 };

export const openai = {
  sol61: gpt('gpt-6.1-sol', 'GPT-6.1 Sol', { price: { input: 2, output: 10, cached: 0.1, cacheWrite: 2.5 } }),
  terra61: gpt('gpt-6.1-terra', 'GPT-6.1 Terra', { price: { input: 1, output: 5, cached: 0.05, cacheWrite: 1.25 } }),
  astra6: gpt('gpt-6-astra', 'GPT-6 Astra', { price: { input: 10, output: 50, cached: 1, cacheWrite: 12.5 } }),
  sol6: gpt('gpt-6-sol', 'GPT-6 Sol', { price: { input: 2, output: 10, cached: 0.2, cacheWrite: 2.5 } }),
  luna6: gpt('gpt-6-luna', 'GPT-6 Luna', { price: { input: 0.1, output: 0.5, cached: 0.01, cacheWrite: 0.125 } }),
  sol56: gpt('gpt-5.6-sol', 'GPT-5.6 Sol', { price: { input: 4, output: 20, cached: 0.4, cacheWrite: 5 } }),
  terra56: gpt('gpt-5.6-terra', 'GPT-5.6 Terra', { price: { input: 2, output: 12, cached: 0.2, cacheWrite: 2.5 } }),
  luna56: gpt('gpt-5.6-luna', 'GPT-5.6 Luna', { price: { input: 0.2, output: 1.2, cached: 0.02, cacheWrite: 0.25 } }),
  gpt55: gpt('gpt-5.5', 'GPT-5.5', { price: { input: 5, output: 30, cached: 0.5 } }),
  gpt5: flatPrice('gpt-5', 'GPT-5', { price: { input: 1.25, output: 10, cached: 0.125 }, contextWindow: 400_000 }),
  gpt5mini: flatPrice('gpt-5-mini', 'GPT-5 mini', { price: { input: 0.25, output: 2, cached: 0.025 }, contextWindow: 400_000 }),
  gpt41: plain('gpt-4.1', 'GPT-4.1', { price: { input: 2, output: 8, cached: 0.5 }, contextWindow: 1_047_576, maxOutputTokens: 32_768 }),
  gpt4o: plain('gpt-4o', 'GPT-4o', { price: { input: 2.5, output: 10, cached: 1.25 }, contextWindow: 128_000, maxOutputTokens: 16_384 }),
  o3: flatPrice('o3', 'o3', { price: { input: 2, output: 8, cached: 0.5 }, ...oSeries }),
  o4mini: flatPrice('o4-mini', 'o4-mini', { price: { input: 1.1, output: 4.4, cached: 0.275 }, ...oSeries }),
  codexMini: flatPrice('codex-mini-latest', 'Codex mini', { price: { input: 1.5, output: 6, cached: 0.375 }, ...oSeries }),
} as const satisfies Record<string, ModelFact>;
