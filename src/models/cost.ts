import { calcPrice } from '@pydantic/genai-prices';

/** What one answer used; input counts include the cache, output counts include thinking. */
export interface BilledUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly webSearchRequests: number;
}

/** A web search is never free: ten dollars per thousand calls, in billionths of a dollar per call. */
const SEARCH_NANO_USD = 10_000_000;
const NANO = 1e9;

/** Cost in billionths of a US dollar; undefined when the model has no price. Prices are those of `at`. */
export function costOf(usage: BilledUsage, model: string, provider: string, at: Date): number | undefined {
  const price = calcPrice(
    {
      input_tokens: usage.inputTokens,
      output_tokens: usage.outputTokens,
      cache_read_tokens: usage.cacheReadTokens,
      cache_write_tokens: usage.cacheWriteTokens,
    },
    model,
    { providerId: provider, timestamp: at },
  );
  if (price === null) return undefined;
  return Math.round(price.total_price * NANO) + usage.webSearchRequests * SEARCH_NANO_USD;
}
