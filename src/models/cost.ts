import { readFileSync } from 'node:fs';
import { calcPrice, findProvider, type Provider } from '@pydantic/genai-prices';
import { parseJsonObject } from '../base/json.ts';
import { costByRates, isRates } from './rates.ts';

/** The usage of one answer; input counts include the cache, output counts include thinking. */
export interface BilledUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly webSearchRequests: number;
  readonly details?: BilledDetails;
}

/** Parts of a usage that have a price of their own, and how the call was served. */
export interface BilledDetails {
  readonly cacheWrite1hTokens?: number;
  readonly audioInputTokens?: number;
  /** Of the audio: what was read from the cache. */
  readonly audioCacheReadTokens?: number;
  readonly audioOutputTokens?: number;
  readonly imageOutputTokens?: number;
  readonly imageInputTokens?: number;
  readonly fileSearches?: number;
  readonly mapSearches?: number;
  readonly tier?: string;
  readonly region?: string;
  /** What other models used beside all that. */
  readonly others?: readonly OtherUsage[];
}

/** The usage of another model of the same vendor, on behalf of an answer. */
export interface OtherUsage extends BilledUsage {
  readonly model: string;
}

/** A web search is never free: ten dollars per thousand calls, in billionths of a dollar per call. */
export const SEARCH_NANO_USD = 10_000_000;
const NANO = 1e9;

/** A search in the files of the caller, where the price list has none: $2.50 per thousand calls (platform.openai.com/docs/pricing, 2026-11-15). */
const FILE_SEARCH_NANO_USD = 2_500_000;

/**
 * The premium of a vendor for a grounded search above that, in billionths of a dollar; the first row that matches counts.
 * Google: $35 per thousand grounded prompts, however many queries each makes; $14 per thousand queries from Gemini 3 on
 * (ai.google.dev/gemini-api/docs/pricing, 2026-11-15).
 */
const GROUNDING: readonly {
  readonly provider: string;
  readonly model: RegExp;
  readonly nanoUsd: number;
  readonly per: 'prompt' | 'query';
}[] = [
  { provider: 'google', model: /gemini-[3-9]/, nanoUsd: 4_000_000, per: 'query' },
  { provider: 'google', model: /gemini/, nanoUsd: 25_000_000, per: 'prompt' },
];

/**
 * What an answer costs that rests on a map, in billionths of a dollar; the first row that matches counts. Google: $25 per thousand prompts;
 * $14 per thousand queries from Gemini 3 on (ai.google.dev/gemini-api/docs/pricing, 2026-11-15).
 */
const MAPS: readonly { readonly provider: string; readonly model: RegExp; readonly nanoUsd: number }[] = [
  { provider: 'google', model: /gemini-[3-9]/, nanoUsd: 14_000_000 },
  { provider: 'google', model: /gemini/, nanoUsd: 25_000_000 },
];

/**
 * The factor of a way of serving on the price of tokens; the first row that matches counts, and a way without a row costs the list
 * price. Half for batches everywhere and for OpenAI's and Google's flex; OpenAI's priority prices by model
 * (openai.com/api-priority-processing); Google's priority at 1.8, within the 75 to 100 % that it names
 * (ai.google.dev/gemini-api/docs/optimization); Claude's fast mode and calls that stay in the United States
 * (platform.claude.com/docs/en/about-claude/pricing). All as of 2026-11-15.
 */
const FACTORS: readonly { readonly way: string; readonly provider?: string; readonly model?: RegExp; readonly factor: number }[] = [
  { way: 'batch', factor: 0.5 },
  { way: 'flex', factor: 0.5 },
  { way: 'priority', provider: 'openai', model: /^gpt-4o-mini/, factor: 5 / 3 },
  { way: 'priority', provider: 'openai', model: /^gpt-4o-2024-05-13/, factor: 1.75 },
  { way: 'priority', provider: 'openai', model: /^gpt-4o/, factor: 1.7 },
  { way: 'priority', provider: 'openai', model: /^gpt-4\.1-nano/, factor: 2 },
  { way: 'priority', provider: 'openai', model: /^(?:gpt-4\.1|o3)/, factor: 1.75 },
  { way: 'priority', provider: 'openai', model: /^o4-mini/, factor: 20 / 11 },
  { way: 'priority', provider: 'openai', model: /^gpt-5-mini/, factor: 1.8 },
  { way: 'priority', provider: 'openai', model: /^gpt-5\.5/, factor: 2.5 },
  { way: 'priority', provider: 'openai', factor: 2 },
  { way: 'priority', provider: 'google', factor: 1.8 },
  { way: 'fast', provider: 'anthropic', factor: 6 },
  { way: 'us', provider: 'anthropic', factor: 1.1 },
];

/**
 * What audio costs above text where the price list has text alone, in billionths of a dollar per token; the first row that matches counts.
 * GPT-4o audio: $40 in and $80 out per million (openai/gpt-4o-audio-preview at aitoolrank.net, 2026-03-23; not compared with the
 * vendor's page). Its small one: $10 and $20, taken from gpt-4o-mini-realtime-preview in the price list.
 */
const AUDIO: readonly { readonly provider: string; readonly model: RegExp; readonly input: number; readonly output: number }[] = [
  { provider: 'openai', model: /^gpt-4o-mini-audio/, input: 9_850, output: 19_400 },
  { provider: 'openai', model: /^gpt-4o-audio/, input: 37_500, output: 70_000 },
];

/** The price data in use: the package that carries it and the table of premiums above. */
const PRICE_VERSION = `genai-prices ${packageVersion()}, searches 4`;

/** The version of the prices that a list's name stands for. */
export function priceVersionOf(prices: string): string {
  return isRates(prices) ? 'configuration' : PRICE_VERSION;
}

function packageVersion(): string {
  const file = new URL('../package.json', import.meta.resolve('@pydantic/genai-prices'));
  return String(parseJsonObject(readFileSync(file, 'utf8'))?.version);
}

/** Cost in billionths of a US dollar; undefined when the model has no price. `provider`: a price list, or rates as text. Prices are those of `at`. */
export function costOf(usage: BilledUsage, model: string, provider: string, at: Date): number | undefined {
  if (isRates(provider)) return costByRates(consistent(usage), provider);
  const entry = priceEntry(model, provider, at);
  return entry === undefined ? undefined : costBy(entry, usage, { model, provider, at });
}

/** The price of a model as a function of a usage. It is not remembered here: a long list would push the models in use out of memory. */
export function pricerOf(model: string, provider: string, at: Date): ((usage: BilledUsage) => number | undefined) | undefined {
  const entry = readEntry(model, provider, at);
  return entry === undefined ? undefined : (usage) => costBy(entry, usage, { model, provider, at });
}

/** The price of a model for calls of this moment, likewise. It holds on to what was found, so that no call looks it up again. */
export function presentPricer(model: string, provider: string): ((usage: BilledUsage) => number | undefined) | undefined {
  if (isRates(provider)) return (usage) => costByRates(consistent(usage), provider);
  const entry = priceEntry(model, provider, new Date());
  const priced = { model, provider };
  return entry === undefined ? undefined : (usage) => costBy(entry, usage, priced);
}

interface Priced {
  readonly model: string;
  readonly provider: string;
  /** This moment unless told. */
  readonly at?: Date;
}

/**
 * A usage whose wholes hold their parts: an engine may tell more of a part than of the whole, which no price list takes. What is told of the
 * part counts, so that nothing is billed below its price.
 */
function consistent(usage: BilledUsage): BilledUsage {
  const { details, cacheReadTokens } = usage;
  const cacheWriteTokens = Math.max(usage.cacheWriteTokens, details?.cacheWrite1hTokens ?? 0);
  const audioRead = details?.audioInputTokens ?? 0;
  const mediaRead = audioRead + (details?.imageInputTokens ?? 0);
  const inputTokens = Math.max(usage.inputTokens, cacheReadTokens + cacheWriteTokens, mediaRead + cacheWriteTokens);
  const outputTokens = Math.max(usage.outputTokens, (details?.audioOutputTokens ?? 0) + (details?.imageOutputTokens ?? 0));
  const whole = { ...usage, inputTokens, outputTokens, cacheWriteTokens };
  if (details === undefined) return whole;
  // Audio is dearer than text: only as much of it as must be came from the cache, unless the engine says more.
  const least = Math.max(0, audioRead + cacheReadTokens + cacheWriteTokens - inputTokens);
  const audioCacheReadTokens = Math.min(audioRead, cacheReadTokens, Math.max(details?.audioCacheReadTokens ?? 0, least));
  return { ...whole, details: { ...details, audioCacheReadTokens } };
}

function costBy({ list, rates, grounding }: PriceEntry, told: BilledUsage, { model, provider, at }: Priced): number | undefined {
  const usage = consistent(told);
  const { details } = usage;
  const plain = details === undefined && rates !== undefined && usage.inputTokens < rates.below;
  const tokens = plain ? linearPrice(usage, rates) : listPrice(usage, model, list, at ?? new Date());
  if (tokens === undefined) return undefined;
  const factor = factorOf(details?.tier, model, provider) * factorOf(details?.region, model, provider);
  const others = othersPrice(details, provider, at ?? new Date());
  if (others === undefined) return undefined;
  return (
    Math.round((tokens + audioPrice(details, model, provider)) * factor) +
    searchPrice(usage.webSearchRequests, grounding) +
    (details?.fileSearches ?? 0) * FILE_SEARCH_NANO_USD +
    mapPrice(details, model, provider) +
    others
  );
}

/** Other models have prices of their own, and share how and where the call was served as far as that is the same for all. */
function othersPrice({ others = [], tier, region }: BilledDetails = {}, provider: string, at: Date): number | undefined {
  const shared = { ...(tier === 'batch' ? { tier } : {}), ...(region === undefined ? {} : { region }) };
  return others.reduce<number | undefined>((sum, { model, ...usage }) => {
    const cost = sum === undefined ? undefined : costOf({ ...usage, details: { ...usage.details, ...shared } }, model, provider, at);
    return sum === undefined || cost === undefined ? undefined : sum + cost;
  }, 0);
}

function mapPrice(details: BilledDetails | undefined, model: string, provider: string): number {
  const { mapSearches = 0 } = details ?? {};
  const row = mapSearches === 0 ? undefined : MAPS.find((one) => one.provider === provider && one.model.test(model));
  return mapSearches * (row?.nanoUsd ?? 0);
}

function audioPrice(details: BilledDetails | undefined, model: string, provider: string): number {
  const { audioInputTokens = 0, audioOutputTokens = 0 } = details ?? {};
  if (audioInputTokens + audioOutputTokens === 0) return 0;
  const row = AUDIO.find((one) => one.provider === provider && one.model.test(model));
  return row === undefined ? 0 : audioInputTokens * row.input + audioOutputTokens * row.output;
}

function factorOf(way: string | undefined, model: string, provider: string): number {
  if (way === undefined) return 1;
  const fits = (row: (typeof FACTORS)[number]): boolean =>
    row.way === way && (row.provider ?? provider) === provider && (row.model?.test(model) ?? true);
  return FACTORS.find(fits)?.factor ?? 1;
}

/** Where the vendor bills by the prompt, its queries are one search. */
function searchPrice(searches: number, grounding: Grounding | undefined): number {
  const billed = grounding?.per === 'prompt' ? Math.min(1, searches) : searches;
  return billed * (SEARCH_NANO_USD + (grounding?.nanoUsd ?? 0));
}

type Grounding = (typeof GROUNDING)[number];

/** The cost by the price list, in billionths of a dollar. */
function listPrice(usage: Omit<BilledUsage, 'webSearchRequests'>, model: string, list: Provider, at: Date): number | undefined {
  const price = calcPrice(
    {
      input_tokens: usage.inputTokens,
      output_tokens: usage.outputTokens,
      cache_read_tokens: usage.cacheReadTokens,
      cache_write_tokens: usage.cacheWriteTokens,
      ...detailTokens(usage.details),
    },
    model,
    { provider: list, timestamp: at },
  );
  return price === null ? undefined : price.total_price * NANO;
}

/** Details by the names of the price list, which leaves out what it has no price for. */
function detailTokens(details: BilledDetails | undefined): Record<string, number> {
  const {
    cacheWrite1hTokens = 0,
    audioInputTokens = 0,
    audioCacheReadTokens = 0,
    audioOutputTokens = 0,
    imageInputTokens = 0,
    imageOutputTokens = 0,
  } = details ?? {};
  return {
    ...(cacheWrite1hTokens > 0 ? { cache_write_1h_tokens: cacheWrite1hTokens } : {}),
    ...(audioInputTokens > 0 ? { input_audio_tokens: audioInputTokens } : {}),
    // Told where it is none, too: the list asks for it wherever there are both a cache and audio.
    ...(audioInputTokens > 0 ? { cache_audio_read_tokens: audioCacheReadTokens } : {}),
    ...(audioOutputTokens > 0 ? { output_audio_tokens: audioOutputTokens } : {}),
    ...(imageInputTokens > 0 ? { input_image_tokens: imageInputTokens, cache_image_read_tokens: 0 } : {}),
    ...(imageOutputTokens > 0 ? { output_image_tokens: imageOutputTokens } : {}),
  };
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

function groundingOf(model: string, provider: string): Grounding | undefined {
  return GROUNDING.find((row) => row.provider === provider && row.model.test(model));
}

/** A model as the price list has it. */
interface PriceEntry {
  /** The provider with that model alone. */
  readonly list: Provider;
  readonly rates: Rates | undefined;
  readonly grounding: Grounding | undefined;
}

/** Asking the list takes longer than all the rest of a receipt; the few models in use are remembered. */
const known = new Map<string, PriceEntry | null>();
const MOST_KNOWN = 500;

function priceEntry(model: string, provider: string, at: Date): PriceEntry | undefined {
  const name = `${provider} ${model}`;
  const found = known.get(name);
  if (found !== undefined) return found ?? undefined;
  if (known.size >= MOST_KNOWN) known.clear();
  const entry = readEntry(model, provider, at);
  known.set(name, entry ?? null);
  return entry;
}

function readEntry(model: string, provider: string, at: Date): PriceEntry | undefined {
  const whole = findProvider({ providerId: provider });
  const price = whole === undefined ? null : calcPrice({ input_tokens: 1 }, model, { provider: whole, timestamp: at });
  const list = price === null ? undefined : { ...price.provider, models: [price.model] };
  return list === undefined ? undefined : { list, rates: ratesOf(list, model, at), grounding: groundingOf(model, provider) };
}
