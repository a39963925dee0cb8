import { readFileSync } from 'node:fs';
import { calcPrice, findProvider, type Provider } from '@pydantic/genai-prices';
import { parseJsonObject } from '../base/json.ts';

/** What one answer used; input counts include the cache, output counts include thinking. */
export interface BilledUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly webSearchRequests: number;
}

/** A web search is never free: ten dollars per thousand calls, in billionths of a dollar per call. */
export const SEARCH_NANO_USD = 10_000_000;
const NANO = 1e9;

/**
 * What a vendor takes for a grounded search above that, in billionths of a dollar per search; the first row that matches counts.
 * Google: $35 per thousand grounded prompts, $14 from Gemini 3 on (ai.google.dev/gemini-api/docs/pricing).
 */
const GROUNDING_PREMIUMS: readonly { readonly provider: string; readonly model: RegExp; readonly nanoUsd: number }[] = [
  { provider: 'google', model: /gemini-[3-9]/, nanoUsd: 4_000_000 },
  { provider: 'google', model: /gemini/, nanoUsd: 25_000_000 },
];

/** The price data in use: the package that carries it and the table of premiums above. */
export const PRICE_VERSION = `genai-prices ${packageVersion()}, searches 1`;

function packageVersion(): string {
  const file = new URL('../package.json', import.meta.resolve('@pydantic/genai-prices'));
  return String(parseJsonObject(readFileSync(file, 'utf8'))?.version);
}

/** Cost in billionths of a US dollar; undefined when the model has no price. Prices are those of `at`. */
export function costOf(usage: BilledUsage, model: string, provider: string, at: Date): number | undefined {
  const list = priceListOf(model, provider, at);
  if (list === undefined) return undefined;
  const price = calcPrice(
    {
      input_tokens: usage.inputTokens,
      output_tokens: usage.outputTokens,
      cache_read_tokens: usage.cacheReadTokens,
      cache_write_tokens: usage.cacheWriteTokens,
    },
    model,
    { provider: list, timestamp: at },
  );
  if (price === null) return undefined;
  return Math.round(price.total_price * NANO) + usage.webSearchRequests * (SEARCH_NANO_USD + premiumOf(model, provider));
}

function premiumOf(model: string, provider: string): number {
  return GROUNDING_PREMIUMS.find((row) => row.provider === provider && row.model.test(model))?.nanoUsd ?? 0;
}

/** Finding a model among hundreds of patterns takes ten times as long as the sum; the few models in use are remembered. */
const known = new Map<string, Provider | null>();
const MOST_KNOWN = 500;

/** The provider with that model alone. */
function priceListOf(model: string, provider: string, at: Date): Provider | undefined {
  const name = `${provider} ${model}`;
  const found = known.get(name);
  if (found !== undefined) return found ?? undefined;
  if (known.size >= MOST_KNOWN) known.clear();
  const whole = findProvider({ providerId: provider });
  const price = whole === undefined ? null : calcPrice({ input_tokens: 1 }, model, { provider: whole, timestamp: at });
  const list = price === null ? null : { ...price.provider, models: [price.model] };
  known.set(name, list);
  return list ?? undefined;
}
