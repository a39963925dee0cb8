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
  const entry = priceEntry(model, provider, at);
  if (entry === undefined) return undefined;
  const { list, rates, premium } = entry;
  const tokens = rates !== undefined && usage.inputTokens < rates.below ? linearPrice(usage, rates) : listPrice(usage, model, list, at);
  return tokens === undefined ? undefined : Math.round(tokens) + usage.webSearchRequests * (SEARCH_NANO_USD + premium);
}

/** What the price list says, in billionths of a dollar. */
function listPrice(usage: Omit<BilledUsage, 'webSearchRequests'>, model: string, list: Provider, at: Date): number | undefined {
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
  return price === null ? undefined : price.total_price * NANO;
}

/** Billionths of a dollar per token, which hold as long as the input is short. */
interface Rates {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  /** Input tokens from which a dearer tier may begin. */
  readonly below: number;
}

function linearPrice({ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }: BilledUsage, rates: Rates): number {
  const fresh = inputTokens - cacheReadTokens - cacheWriteTokens;
  return fresh * rates.input + cacheReadTokens * rates.cacheRead + cacheWriteTokens * rates.cacheWrite + outputTokens * rates.output;
}

const NO_TOKENS = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
const SOME_TOKENS = 1000;

/** The list's own answers to a few tokens of each kind; undefined where its prices change with the time. */
function ratesOf(list: Provider, model: string, at: Date): Rates | undefined {
  const prices: unknown = list.models[0]?.prices;
  if (typeof prices !== 'object' || prices === null || Array.isArray(prices)) return undefined;
  const below = Object.values(prices).reduce<number>(
    (least, price: unknown) => Math.min(least, tierStart(price)),
    Number.POSITIVE_INFINITY,
  );
  const rate = (usage: Partial<typeof NO_TOKENS>): number => (listPrice({ ...NO_TOKENS, ...usage }, model, list, at) ?? 0) / SOME_TOKENS;
  return {
    input: rate({ inputTokens: SOME_TOKENS }),
    output: rate({ outputTokens: SOME_TOKENS }),
    cacheRead: rate({ inputTokens: SOME_TOKENS, cacheReadTokens: SOME_TOKENS }),
    cacheWrite: rate({ inputTokens: SOME_TOKENS, cacheWriteTokens: SOME_TOKENS }),
    below,
  };
}

/** Where the first tier of a price begins; a price of a form that is not known here begins one at once. */
function tierStart(price: unknown): number {
  if (typeof price === 'number') return Number.POSITIVE_INFINITY;
  const tiers: unknown = typeof price === 'object' && price !== null && 'tiers' in price ? price.tiers : undefined;
  if (!Array.isArray(tiers)) return 0;
  return Math.min(...tiers.map((tier: unknown) => (typeof tier === 'object' && tier !== null && 'start' in tier ? Number(tier.start) : 0)));
}

function premiumOf(model: string, provider: string): number {
  return GROUNDING_PREMIUMS.find((row) => row.provider === provider && row.model.test(model))?.nanoUsd ?? 0;
}

/** A model as the price list has it. */
interface PriceEntry {
  /** The provider with that model alone. */
  readonly list: Provider;
  readonly rates: Rates | undefined;
  readonly premium: number;
}

/** Asking the list takes longer than all the rest of a receipt; the few models in use are remembered. */
const known = new Map<string, PriceEntry | null>();
const MOST_KNOWN = 500;

function priceEntry(model: string, provider: string, at: Date): PriceEntry | undefined {
  const name = `${provider} ${model}`;
  const found = known.get(name);
  if (found !== undefined) return found ?? undefined;
  if (known.size >= MOST_KNOWN) known.clear();
  const whole = findProvider({ providerId: provider });
  const price = whole === undefined ? null : calcPrice({ input_tokens: 1 }, model, { provider: whole, timestamp: at });
  const list = price === null ? undefined : { ...price.provider, models: [price.model] };
  const entry = list === undefined ? null : { list, rates: ratesOf(list, model, at), premium: premiumOf(model, provider) };
  known.set(name, entry);
  return entry ?? undefined;
}
