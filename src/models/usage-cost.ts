import type { ModelCapabilities } from '../contract/runs/coding-agent.ts';
import type { BilledUsage } from './billed-usage.ts';
import { costOf } from './cost.ts';
import { SEARCH_NANO_USD } from './surcharges.ts';

const MILLION = 1_000_000;
const NANO = 1e9;

/** The usage of a model. Input counts include the cache, output counts include thinking. */
export interface ModelUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly thinkingTokens?: number | undefined;
  readonly cachedTokens?: number | undefined;
  readonly cacheCreationTokens?: number | undefined;
  readonly webSearchRequests?: number | undefined;
}

/** The seed's estimate: input and output at list price, 0 for a model without one. */
export function estimateCost(model: ModelCapabilities | null, inputTokens: number, outputTokens: number): number {
  const { inputPricePerMillion = 0, outputPricePerMillion = 0 } = model ?? {};
  return (inputTokens / MILLION) * inputPricePerMillion + (outputTokens / MILLION) * outputPricePerMillion;
}

/** Cost in US dollars with cache, thinking, price tiers and searches; undefined for a model without a price. */
export function usageCost(model: ModelCapabilities, usage: ModelUsage, at: Date): number | undefined {
  return catalogueCost(model, usage, at) ?? ownCost(model, usage);
}

/** By the price data that receipts use too, which knows dates and tiers. */
function catalogueCost(model: ModelCapabilities, usage: ModelUsage, at: Date): number | undefined {
  const { provider, providerModelId, modelId, inputPricePerMillion } = model;
  if (provider === undefined || inputPricePerMillion === undefined) return undefined;
  const billed: BilledUsage = {
    inputTokens: usage.inputTokens,
    outputTokens: usage.outputTokens,
    cacheReadTokens: usage.cachedTokens ?? 0,
    cacheWriteTokens: usage.cacheCreationTokens ?? 0,
    webSearchRequests: usage.webSearchRequests ?? 0,
  };
  const nano = costOf(billed, providerModelId ?? modelId, provider, at);
  return nano === undefined ? undefined : nano / NANO;
}

/** By the prices of the row itself: a price tier holds for the whole request. */
function ownCost(model: ModelCapabilities, usage: ModelUsage): number | undefined {
  if (model.inputPricePerMillion === undefined || model.outputPricePerMillion === undefined) return undefined;
  const tier = model.priceTiers?.findLast(({ inputTokensAbove }) => usage.inputTokens > inputTokensAbove);
  const input = tier?.inputPricePerMillion ?? model.inputPricePerMillion;
  const output = tier?.outputPricePerMillion ?? model.outputPricePerMillion;
  const thinking = tier?.outputPricePerMillion ?? model.thinkingPricePerMillion ?? output;
  const cached = (tier ?? model).cachedInputPricePerMillion ?? input;
  const cacheWrite = (tier ?? model).cacheWritePricePerMillion ?? input;
  const { cachedTokens = 0, cacheCreationTokens = 0, thinkingTokens = 0, webSearchRequests = 0 } = usage;
  const fresh = Math.max(0, usage.inputTokens - cachedTokens - cacheCreationTokens);
  const said = Math.max(0, usage.outputTokens - thinkingTokens);
  const tokens = fresh * input + cachedTokens * cached + cacheCreationTokens * cacheWrite + said * output + thinkingTokens * thinking;
  return tokens / MILLION + (webSearchRequests * SEARCH_NANO_USD) / NANO;
}
