import { isJsonObject, type JsonObject } from '../../base/json.ts';
import type { BilledDetails } from '../../models/cost.ts';
import type { CloseTexts } from '../journal/texts.ts';
import { costText } from '../journal/writings.ts';
import { parsedText } from '../seal/canonical-text.ts';

/** The cost of an ended run, as JSON text; `null` when its model has no price. */
export type Pricer = (close: CloseTexts, model: string) => string;

/**
 * The price lists are loaded with the first run that needs them, and by the keeper: they are twenty megabytes, and looking a price up
 * costs as much as the rest of a receipt.
 */
export async function loadPricer(): Promise<Pricer> {
  const { costOf, priceVersionOf } = await import('../../models/cost.ts');
  return (close, model) => {
    const usage = parsedText(close.get('usage'));
    const name = parsedText(model);
    if (!isJsonObject(usage) || typeof name !== 'string') return 'null';
    const billed = {
      inputTokens: Number(usage.input_tokens),
      outputTokens: Number(usage.output_tokens),
      cacheReadTokens: Number(usage.cache_read_tokens),
      cacheWriteTokens: Number(usage.cache_write_tokens),
      webSearchRequests: Number(usage.web_search_requests),
      ...(isJsonObject(usage.details) ? { details: billedDetails(usage.details) } : {}),
    };
    const prices = String(parsedText(close.get('prices')));
    const nanoUsd = costOf(billed, name, prices, new Date(Number(close.get('at'))));
    return nanoUsd === undefined ? 'null' : costText({ nano_usd: nanoUsd, price_version: priceVersionOf(prices) });
  };
}

/** Details as the receipt has them, by the names of the price list. */
function billedDetails(told: JsonObject): BilledDetails {
  const counts = Object.fromEntries(Object.entries(told).filter(([, value]) => typeof value === 'number')) as Record<string, number>;
  return {
    cacheWrite1hTokens: counts.cache_write_1h_tokens ?? 0,
    audioInputTokens: counts.audio_input_tokens ?? 0,
    audioCacheReadTokens: counts.audio_cache_read_tokens ?? 0,
    audioOutputTokens: counts.audio_output_tokens ?? 0,
    imageOutputTokens: counts.image_output_tokens ?? 0,
    fileSearches: counts.file_searches ?? 0,
    ...(typeof told.tier === 'string' ? { tier: told.tier } : {}),
    ...(typeof told.region === 'string' ? { region: told.region } : {}),
  };
}
