import type { ReceiptUsage } from '../../contract/receipts/parts.ts';
import { pricesOf } from '../../engines/engine.ts';
import { findEngine } from '../../engines/index.ts';
import type { BilledDetails, BilledUsage } from '../../models/cost.ts';
import type { Call, CallEnding } from '../call.ts';

/** Prices of calls in billionths of a US dollar; undefined for a call whose price nobody knows. */
export interface CallPrices {
  /** Of the most that a call may use. */
  most(call: Call, input: number, output: number): number | undefined;
  /** Of what it has used, as its receipt will say. */
  of(call: Call, ending: CallEnding): number | undefined;
}

/** Loads the price lists, which are twenty megabytes: only for a process that has a budget of dollars. */
export async function loadPrices(): Promise<CallPrices> {
  const { costOf } = await import('../../models/cost.ts');
  return {
    most: (call, inputTokens, outputTokens) => {
      const prices = pricesOfCall(call);
      if (prices === undefined || call.model === null) return undefined;
      const at = new Date();
      const plain = { inputTokens, outputTokens, cacheReadTokens: 0, cacheWriteTokens: 0, webSearchRequests: 0 };
      // Writing into a cache costs more than reading nothing from it.
      const written = costOf({ ...plain, cacheWriteTokens: inputTokens }, call.model, prices, at);
      return written === undefined ? undefined : Math.max(written, costOf(plain, call.model, prices, at) ?? 0);
    },
    of: (call, { usage, upstreamModel }) => {
      const prices = pricesOfCall(call);
      const model = upstreamModel ?? call.model;
      return usage === null || prices === undefined || model === null ? undefined : costOf(billed(usage), model, prices, new Date());
    },
  };
}

function pricesOfCall({ engine: id, model }: Call): string | undefined {
  const engine = id === null ? undefined : findEngine(id);
  return engine === undefined ? undefined : pricesOf(engine, model);
}

function billed(usage: ReceiptUsage): BilledUsage {
  return {
    inputTokens: usage.input_tokens,
    outputTokens: usage.output_tokens,
    cacheReadTokens: usage.cache_read_tokens,
    cacheWriteTokens: usage.cache_write_tokens,
    webSearchRequests: usage.web_search_requests,
    ...(usage.details === undefined ? {} : { details: billedDetails(usage.details) }),
  };
}

function billedDetails(told: NonNullable<ReceiptUsage['details']>): BilledDetails {
  return {
    cacheWrite1hTokens: told.cache_write_1h_tokens ?? 0,
    audioInputTokens: told.audio_input_tokens ?? 0,
    audioOutputTokens: told.audio_output_tokens ?? 0,
    imageOutputTokens: told.image_output_tokens ?? 0,
    fileSearches: told.file_searches ?? 0,
    ...(told.tier === undefined ? {} : { tier: told.tier }),
    ...(told.region === undefined ? {} : { region: told.region }),
  };
}
