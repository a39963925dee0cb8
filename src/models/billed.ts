import type { ReceiptUsage } from '../contract/receipts/parts.ts';
import type { BilledDetails, BilledUnits, BilledUsage, OtherUsage, PassUsage } from './billed-usage.ts';

type Details = NonNullable<ReceiptUsage['details']>;

/** The usage of a receipt by the names of the price list. */
export function billedUsage(usage: ReceiptUsage): BilledUsage {
  return {
    inputTokens: usage.input_tokens,
    outputTokens: usage.output_tokens,
    cacheReadTokens: usage.cache_read_tokens,
    cacheWriteTokens: usage.cache_write_tokens,
    webSearchRequests: usage.web_search_requests,
    ...(usage.details === undefined ? {} : { details: billedDetails(usage.details) }),
  };
}

function billedDetails(told: Details): BilledDetails {
  return {
    cacheWrite1hTokens: told.cache_write_1h_tokens ?? 0,
    audioInputTokens: told.audio_input_tokens ?? 0,
    audioCacheReadTokens: told.audio_cache_read_tokens ?? 0,
    audioOutputTokens: told.audio_output_tokens ?? 0,
    imageInputTokens: told.image_input_tokens ?? 0,
    imageOutputTokens: told.image_output_tokens ?? 0,
    videoInputTokens: told.video_input_tokens ?? 0,
    fileSearches: told.file_searches ?? 0,
    mapSearches: told.map_searches ?? 0,
    previewSearches: told.preview_searches ?? 0,
    ...(told.units === undefined ? {} : { units: told.units.map(unitsOf) }),
    ...(told.passes === undefined ? {} : { passes: told.passes.map(passesOf) }),
    ...(told.other_models === undefined ? {} : { others: told.other_models.map(otherUsage) }),
    ...(told.tier === undefined ? {} : { tier: told.tier }),
    ...(told.region === undefined ? {} : { region: told.region }),
  };
}

function otherUsage(told: NonNullable<Details['other_models']>[number]): OtherUsage {
  return {
    model: told.model,
    inputTokens: told.input_tokens,
    outputTokens: told.output_tokens,
    cacheReadTokens: told.cache_read_tokens ?? 0,
    cacheWriteTokens: told.cache_write_tokens ?? 0,
    webSearchRequests: 0,
    details: {
      cacheWrite1hTokens: told.cache_write_1h_tokens ?? 0,
      audioInputTokens: told.audio_input_tokens ?? 0,
      imageInputTokens: told.image_input_tokens ?? 0,
      imageOutputTokens: told.image_output_tokens ?? 0,
      ...(told.units === undefined ? {} : { units: told.units.map(unitsOf) }),
      ...(told.passes === undefined ? {} : { passes: told.passes.map(passesOf) }),
    },
  };
}

function unitsOf({ unit, amount, kind }: NonNullable<Details['units']>[number]): BilledUnits {
  return kind === undefined ? { unit, amount } : { unit, amount, kind };
}

function passesOf(told: NonNullable<Details['passes']>[number]): PassUsage {
  return {
    count: told.count,
    inputTokens: told.input_tokens,
    outputTokens: told.output_tokens,
    cacheReadTokens: told.cache_read_tokens ?? 0,
    cacheWriteTokens: told.cache_write_tokens ?? 0,
    cacheWrite1hTokens: told.cache_write_1h_tokens ?? 0,
  };
}
