import { readFileSync } from 'node:fs';
import { calcPrice, findProvider, type Provider } from '@pydantic/genai-prices';
import { parseJsonObject } from '../base/json.ts';
import type { BilledDetails, BilledUsage, PassUsage } from './billed-usage.ts';
import { costByRates, isRates } from './rates.ts';
import {
  audioPrice,
  fileSearchPrice,
  mapPrice,
  type SearchTerms,
  searchPrice,
  searchTermsOf,
  searchTokens,
  servingFactor,
} from './surcharges.ts';
import { unitsPrice } from './units.ts';

const NANO = 1e9;

/** The price data in use: the package that carries it and the table of premiums above. */
const PRICE_VERSION = `genai-prices ${packageVersion()}, searches 5`;

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
  return entry === undefined ? piecesCost(usage, model, provider) : costBy(entry, usage, { model, provider, at });
}

/** A model that the list does not have may be priced by the piece alone. */
function piecesCost({ inputTokens, outputTokens, details }: BilledUsage, model: string, provider: string): number | undefined {
  return details?.units === undefined || inputTokens + outputTokens > 0 ? undefined : unitsPrice(details.units, model, provider);
}

/** The price of a model as a function of a usage. It is not remembered here: a long list would push the models in use out of memory. */
export function pricerOf(model: string, provider: string, at: Date): ((usage: BilledUsage) => number | undefined) | undefined {
  const entry = readEntry(model, provider, at);
  return entry === undefined ? undefined : (usage) => costBy(entry, usage, { model, provider, at });
}

/** The price of a model for calls of this moment, likewise. It holds on to what was found, so that no call looks it up again. */
export function presentPricer(model: string, provider: string): (usage: BilledUsage) => number | undefined {
  if (isRates(provider)) return (usage) => costByRates(consistent(usage), provider);
  const entry = priceEntry(model, provider, new Date());
  const priced = { model, provider };
  return (usage) => (entry === undefined ? piecesCost(usage, model, provider) : costBy(entry, usage, priced));
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
  const mediaRead = audioRead + (details?.imageInputTokens ?? 0) + (details?.videoInputTokens ?? 0);
  const inputTokens = Math.max(usage.inputTokens, cacheReadTokens + cacheWriteTokens, mediaRead + cacheWriteTokens);
  const outputTokens = Math.max(usage.outputTokens, (details?.audioOutputTokens ?? 0) + (details?.imageOutputTokens ?? 0));
  const whole = { ...usage, inputTokens, outputTokens, cacheWriteTokens };
  if (details === undefined) return whole;
  // Audio is dearer than text: only as much of it as must be came from the cache, unless the engine says more.
  const least = Math.max(0, audioRead + cacheReadTokens + cacheWriteTokens - inputTokens);
  const audioCacheReadTokens = Math.min(audioRead, cacheReadTokens, Math.max(details?.audioCacheReadTokens ?? 0, least));
  return { ...whole, details: { ...details, audioCacheReadTokens } };
}

function costBy({ list, rates, search }: PriceEntry, told: BilledUsage, { model, provider, at = new Date() }: Priced): number | undefined {
  const usage = consistent(told);
  const { details, webSearchRequests: searches } = usage;
  const plain = details === undefined && rates !== undefined && usage.inputTokens < rates.below;
  const tokens = plain ? linearPrice(usage, rates) : passesPrice(usage, model, list, at);
  if (tokens === undefined) return undefined;
  const previews = details?.previewSearches ?? 0;
  const found = searches === 0 ? 0 : searchTokens(searches, previews, usage.inputTokens, search) * (rates?.input ?? 0);
  const others = othersPrice(details, provider, at);
  const units = details?.units === undefined ? 0 : unitsPrice(details.units, model, provider);
  if (others === undefined || units === undefined) return undefined;
  return (
    Math.round((tokens + found + audioPrice(details, model, provider)) * servingFactor(details, model, provider)) +
    searchPrice(searches, previews, search) +
    fileSearchPrice(details) +
    mapPrice(details, model, provider) +
    others +
    units
  );
}

/** Where the whole is the work of several passes, a price that rises with the length goes by each of them; media cost the same in any. */
function passesPrice(usage: BilledUsage, model: string, list: Provider, at: Date): number | undefined {
  const { details, ...counts } = usage;
  const whole = listPrice(usage, model, list, at);
  if (details?.passes === undefined || whole === undefined) return whole;
  const text = {
    ...counts,
    ...(details.cacheWrite1hTokens === undefined ? {} : { details: { cacheWrite1hTokens: details.cacheWrite1hTokens } }),
  };
  const media = whole - (listPrice(text, model, list, at) ?? whole);
  return details.passes.reduce((sum, passes) => sum + passes.count * (listPrice(averageOf(passes), model, list, at) ?? 0), media);
}

/** Passes of similar length have one price, so that of their average is theirs. */
function averageOf({ count, cacheWrite1hTokens, ...sums }: PassUsage): Omit<BilledUsage, 'webSearchRequests'> {
  return {
    inputTokens: sums.inputTokens / count,
    outputTokens: sums.outputTokens / count,
    cacheReadTokens: sums.cacheReadTokens / count,
    cacheWriteTokens: sums.cacheWriteTokens / count,
    details: { cacheWrite1hTokens: cacheWrite1hTokens / count },
  };
}

/** Other models have prices of their own, and share how and where the call was served as far as that is the same for all. */
function othersPrice({ others = [], tier, region }: BilledDetails = {}, provider: string, at: Date): number | undefined {
  const shared = { ...(tier === 'batch' ? { tier } : {}), ...(region === undefined ? {} : { region }) };
  return others.reduce<number | undefined>((sum, { model, ...usage }) => {
    const cost = sum === undefined ? undefined : costOf({ ...usage, details: { ...usage.details, ...shared } }, model, provider, at);
    return sum === undefined || cost === undefined ? undefined : sum + cost;
  }, 0);
}

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
    videoInputTokens = 0,
  } = details ?? {};
  return {
    ...(cacheWrite1hTokens > 0 ? { cache_write_1h_tokens: cacheWrite1hTokens } : {}),
    ...(audioInputTokens > 0 ? { input_audio_tokens: audioInputTokens } : {}),
    // Told where it is none, too: the list asks for it wherever there are both a cache and audio.
    ...(audioInputTokens > 0 ? { cache_audio_read_tokens: audioCacheReadTokens } : {}),
    ...(audioOutputTokens > 0 ? { output_audio_tokens: audioOutputTokens } : {}),
    ...(imageInputTokens > 0 ? { input_image_tokens: imageInputTokens, cache_image_read_tokens: 0 } : {}),
    ...(videoInputTokens > 0 ? { input_video_tokens: videoInputTokens } : {}),
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

/** A model as the price list has it. */
interface PriceEntry {
  /** The provider with that model alone. */
  readonly list: Provider;
  readonly rates: Rates | undefined;
  readonly search: SearchTerms | undefined;
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
  return list === undefined ? undefined : { list, rates: ratesOf(list, model, at), search: searchTermsOf(model, provider) };
}
