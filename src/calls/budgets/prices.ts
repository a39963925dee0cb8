import type { ReceiptUsage } from '../../contract/receipts/parts.ts';
import { type Engine, pricesOf } from '../../engines/engine.ts';
import { findEngine } from '../../engines/index.ts';
import type { BilledDetails, BilledUsage } from '../../models/cost.ts';

/** The price of calls to one model of an engine, in billionths of a US dollar; undefined where nobody knows it. */
export interface CallPrice {
  /** Of the most that a call may use. */
  most(input: number, output: number): number | undefined;
  /** Of what it has used, as its receipt will say. */
  of(usage: ReceiptUsage): number | undefined;
}

/** Finds the price of calls to a model. */
export type CallPrices = (engine: string | null, model: string | null) => CallPrice | undefined;

/** Models of an engine whose prices are remembered. */
const MOST_KNOWN = 500;

/** Loads the price lists, which are twenty megabytes: only for a process that has a budget of dollars. */
export async function loadPrices(): Promise<CallPrices> {
  const { presentPricer } = await import('../../models/cost.ts');
  // By the engine itself: a configuration that is read again makes another one.
  const byEngine = new WeakMap<Engine, Map<string, CallPrice | null>>();
  const read = (engine: Engine, model: string): CallPrice | undefined => {
    const prices = pricesOf(engine, model);
    const price = prices === undefined ? undefined : presentPricer(model, prices);
    return price === undefined ? undefined : callPrice(price);
  };
  return (id, model) => {
    const engine = id === null || model === null ? undefined : findEngine(id);
    if (engine === undefined || model === null) return undefined;
    const known = byEngine.get(engine) ?? new Map<string, CallPrice | null>();
    const found = known.get(model);
    if (found !== undefined) return found ?? undefined;
    if (known.size >= MOST_KNOWN) known.clear();
    const price = read(engine, model);
    byEngine.set(engine, known.set(model, price ?? null));
    return price;
  };
}

function callPrice(price: (usage: BilledUsage) => number | undefined): CallPrice {
  return {
    most: (inputTokens, outputTokens) => {
      // Writing into a cache costs more than reading nothing from it.
      const written = price({ inputTokens, outputTokens, cacheReadTokens: 0, cacheWriteTokens: inputTokens, webSearchRequests: 0 });
      if (written === undefined) return undefined;
      return Math.max(written, price({ inputTokens, outputTokens, cacheReadTokens: 0, cacheWriteTokens: 0, webSearchRequests: 0 }) ?? 0);
    },
    of: (usage) => price(billed(usage)),
  };
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
