import { THINKING_EFFORT_LEVELS } from '../../contract/runs/coding-agent.ts';
import type { ListPrice, ModelFact, PriceTier, ThinkingFact } from '../model-fact.ts';

// Limits and prices: the price data this package depends on and the list that Gemini CLI 0.61.0 offers, 2026-11-15.

/** From 3 on the vendor has levels; the largest budget it has documented for any model stands for the most. */
const levelled: ThinkingFact = { levels: THINKING_EFFORT_LEVELS, most: 32_768 };

const budgeted = (least: number, most: number): ThinkingFact => ({ levels: THINKING_EFFORT_LEVELS, budget: [least, most] });

/** Above 200,000 tokens of input the pro models cost double, output one and a half times. */
function longPrompts({ input, output, cached = 0 }: ListPrice): PriceTier[] {
  return [{ inputTokensAbove: 200_000, input: input * 2, output: output * 1.5, cached: cached * 2 }];
}

function gemini(id: string, name: string, rest: Partial<ModelFact> = {}): ModelFact {
  return {
    id,
    name,
    provider: 'google',
    protocol: 'custom',
    contextWindow: 1_048_576,
    maxOutputTokens: 65_536,
    thinking: levelled,
    images: true,
    files: true,
    jsonMode: true,
    structuredOutput: true,
    ...rest,
  };
}

const pro31: ListPrice = { input: 2, output: 12, cached: 0.2 };
const pro25: ListPrice = { input: 1.25, output: 10, cached: 0.125 };

export const google = {
  /** Without a price: the vendor doubles it on 2026-12-01, and a list has no dates. */
  argon4: gemini('gemini-4-argon', 'Gemini 4 Argon'),
  pro31: gemini('gemini-3.1-pro-preview', 'Gemini 3.1 Pro', { price: pro31, tiers: longPrompts(pro31) }),
  flash38: gemini('gemini-3.8-flash', 'Gemini 3.8 Flash', { price: { input: 0.75, output: 3.75, cached: 0.075 } }),
  flash35lite: gemini('gemini-3.5-flash-lite', 'Gemini 3.5 Flash-Lite', { price: { input: 0.3, output: 2.5, cached: 0.03 } }),
  flash3: gemini('gemini-3-flash-preview', 'Gemini 3 Flash', { price: { input: 0.5, output: 3, cached: 0.05 } }),
  pro25: gemini('gemini-2.5-pro', 'Gemini 2.5 Pro', { price: pro25, tiers: longPrompts(pro25), thinking: budgeted(128, 32_768) }),
  flash25: gemini('gemini-2.5-flash', 'Gemini 2.5 Flash', {
    price: { input: 0.3, output: 2.5, cached: 0.03 },
    thinking: budgeted(1, 24_576),
  }),
  flash25lite: gemini('gemini-2.5-flash-lite', 'Gemini 2.5 Flash-Lite', {
    price: { input: 0.1, output: 0.4, cached: 0.01 },
    thinking: budgeted(512, 24_576),
  }),
  /** The CLI's own choice among its models, call by call. */
  auto: gemini('auto', 'Auto'),
} as const satisfies Record<string, ModelFact>;
