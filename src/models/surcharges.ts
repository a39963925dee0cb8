import type { BilledDetails } from './billed-usage.ts';

/** A web search is never free: ten dollars per thousand calls, in billionths of a dollar per call. */
export const SEARCH_NANO_USD = 10_000_000;

/** A search in the files of the caller, where the price list has none: $2.50 per thousand calls (platform.openai.com/docs/pricing, 2026-11-15). */
const FILE_SEARCH_NANO_USD = 2_500_000;

/** How a vendor bills a search beyond that. */
export interface SearchTerms {
  readonly provider: string;
  readonly model: RegExp;
  /** The premium for a grounded search, in billionths of a dollar. */
  readonly nanoUsd?: number;
  /** A prompt is one search, however many queries it makes. */
  readonly per?: 'prompt' | 'query';
  /** The premium for a search of the tool's preview. */
  readonly previewNanoUsd?: number;
  /** Input tokens that each search counts as, whatever it finds. */
  readonly block?: number;
}

/**
 * The first row that matches counts. Google: $35 per thousand grounded prompts, however many queries each makes; $14 per thousand queries from
 * Gemini 3 on (ai.google.dev/gemini-api/docs/pricing, 2026-11-15). OpenAI: $25 per thousand searches of the preview on models without reasoning,
 * whose counts leave out what was found (community.openai.com/t/1363698 and /t/1347529, read 2026-11-20); `web_search` on the two small ones
 * bills 8,000 input tokens for each search (modelcostwatch.com/openai/tool-costs/web-search, of 2026-03-12, read 2026-11-20).
 */
const SEARCHES: readonly SearchTerms[] = [
  { provider: 'google', model: /gemini-[3-9]/, nanoUsd: 4_000_000, per: 'query' },
  { provider: 'google', model: /gemini/, nanoUsd: 25_000_000, per: 'prompt' },
  { provider: 'openai', model: /^gpt-4(?:o|\.1)-mini/, previewNanoUsd: 15_000_000, block: 8000 },
  { provider: 'openai', model: /^(?:ft:)?(?:chatgpt-)?gpt-4/, previewNanoUsd: 15_000_000 },
];

/**
 * What an answer costs that rests on a map, in billionths of a dollar; the first row that matches counts. Google: $25 per thousand prompts;
 * $14 per thousand queries from Gemini 3 on (ai.google.dev/gemini-api/docs/pricing, 2026-11-15).
 */
const MAPS: readonly { readonly provider: string; readonly model: RegExp; readonly nanoUsd: number }[] = [
  { provider: 'google', model: /gemini-[3-9]/, nanoUsd: 14_000_000 },
  { provider: 'google', model: /gemini/, nanoUsd: 25_000_000 },
];

interface Factor {
  readonly way: string;
  readonly provider?: string;
  readonly model?: RegExp;
  readonly factor: number;
}

/**
 * The factor of a way of serving on the price of tokens; the first row that matches counts, and a way without a row costs the list
 * price. Half for batches everywhere and for OpenAI's and Google's flex; OpenAI's priority prices by model
 * (openai.com/api-priority-processing); Google's priority at 1.8, within the 75 to 100 % that it names
 * (ai.google.dev/gemini-api/docs/optimization); Claude's fast mode (platform.claude.com/docs/en/about-claude/pricing). All as of 2026-11-15.
 */
const TIERS: readonly Factor[] = [
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
];

/**
 * The same of a place where a call must be served; `*` is any. Claude: calls that stay in the United States
 * (platform.claude.com/docs/en/about-claude/pricing, 2026-11-15). OpenAI: 10 % for models released since 2026-03-05, of which GPT-5.4 is the
 * first (developers.openai.com/api/docs/guides/data-residency.md, read 2026-11-20).
 */
const PLACES: readonly Factor[] = [
  { way: 'us', provider: 'anthropic', factor: 1.1 },
  { way: '*', provider: 'openai', model: /^(?:ft:)?gpt-(?:5\.(?:[4-9]|\d\d)|[6-9]|image-2|realtime-2)/, factor: 1.1 },
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

export function searchTermsOf(model: string, provider: string): SearchTerms | undefined {
  return SEARCHES.find((row) => row.provider === provider && row.model.test(model));
}

/** Where the vendor bills by the prompt, its queries are one search. */
export function searchPrice(searches: number, previews: number, terms: SearchTerms | undefined): number {
  const billed = terms?.per === 'prompt' ? Math.min(1, searches) : searches;
  return billed * (SEARCH_NANO_USD + (terms?.nanoUsd ?? 0)) + Math.min(previews, searches) * (terms?.previewNanoUsd ?? 0);
}

/** Tokens that searches count as beyond those that are told; counts that are large enough for them have them already. */
export function searchTokens(searches: number, previews: number, inputTokens: number, terms: SearchTerms | undefined): number {
  const block = Math.max(0, searches - previews) * (terms?.block ?? 0);
  return inputTokens < block ? block : 0;
}

export function fileSearchPrice({ fileSearches = 0 }: BilledDetails = {}): number {
  return fileSearches * FILE_SEARCH_NANO_USD;
}

export function mapPrice({ mapSearches = 0 }: BilledDetails = {}, model: string, provider: string): number {
  const row = mapSearches === 0 ? undefined : MAPS.find((one) => one.provider === provider && one.model.test(model));
  return mapSearches * (row?.nanoUsd ?? 0);
}

export function audioPrice({ audioInputTokens = 0, audioOutputTokens = 0 }: BilledDetails = {}, model: string, provider: string): number {
  if (audioInputTokens + audioOutputTokens === 0) return 0;
  const row = AUDIO.find((one) => one.provider === provider && one.model.test(model));
  return row === undefined ? 0 : audioInputTokens * row.input + audioOutputTokens * row.output;
}

/** The factor of how and where a call was served. */
export function servingFactor({ tier, region }: BilledDetails = {}, model: string, provider: string): number {
  return factorIn(TIERS, tier, model, provider) * factorIn(PLACES, region, model, provider);
}

function factorIn(rows: readonly Factor[], way: string | undefined, model: string, provider: string): number {
  if (way === undefined) return 1;
  const fits = (row: Factor): boolean =>
    (row.way === way || row.way === '*') && (row.provider ?? provider) === provider && (row.model?.test(model) ?? true);
  return rows.find(fits)?.factor ?? 1;
}
