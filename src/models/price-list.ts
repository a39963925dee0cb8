import { setImmediate } from 'node:timers/promises';
import type { BilledUsage } from './billed-usage.ts';
import { catalogueOf } from './catalogue.ts';
import { pricerOf } from './cost.ts';
import { factsOf, findFact } from './find-fact.ts';
import type { ModelFact } from './model-fact.ts';

/** Billionths of a dollar for a million tokens of a short request. */
interface ShortRates {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

/** A model as people look for one: what it takes, how it thinks and what it costs. */
export interface PricedModel {
  readonly id: string;
  readonly name: string;
  readonly contextWindow: number | null;
  readonly fact: ModelFact | undefined;
  /** Absent where nobody knows its price. */
  readonly rates: ShortRates | undefined;
  /** Cost of a usage, with the tiers of the list. */
  costOf(usage: BilledUsage): number | undefined;
}

const NONE: BilledUsage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, webSearchRequests: 0 };
/** So few that no dearer tier begins. */
const FEW = 1000;
const PER_MILLION = 1_000_000 / FEW;
/** So many models are looked up before others have their turn: finding one in a long list takes a millisecond. */
const AT_ONCE = 10;
const HOUR_MS = 3600 * 1000;

/** Lists that were read, with the hour in which that was. Prices change with the date. */
const lists = new Map<string, { readonly hour: number; readonly models: Promise<readonly PricedModel[]> }>();

/** The models of a price list and those that facts are known about, by name. */
export function pricedModels(prices: string, at: Date): Promise<readonly PricedModel[]> {
  const hour = Math.floor(at.getTime() / HOUR_MS);
  const known = lists.get(prices);
  if (known?.hour === hour) return known.models;
  const models = readList(prices, at);
  lists.set(prices, { hour, models });
  return models;
}

async function readList(prices: string, at: Date): Promise<readonly PricedModel[]> {
  const listed = new Map(catalogueOf(prices).map((model) => [model.id, model]));
  for (const { id, name, contextWindow } of factsOf(prices)) if (!listed.has(id)) listed.set(id, { id, name, contextWindow });
  const models: PricedModel[] = [];
  for (const { id, name, contextWindow } of [...listed.values()].sort((a, b) => a.id.localeCompare(b.id, 'en'))) {
    if (models.length % AT_ONCE === 0) await setImmediate();
    const fact = findFact(id);
    const costOf = pricerOf(id, prices, at) ?? (() => undefined);
    models.push({ id, name, contextWindow: fact?.contextWindow ?? contextWindow ?? null, fact, rates: shortRates(costOf), costOf });
  }
  return models;
}

function shortRates(costOf: PricedModel['costOf']): ShortRates | undefined {
  const rate = (usage: Partial<BilledUsage>): number | undefined => {
    const cost = costOf({ ...NONE, ...usage });
    return cost === undefined ? undefined : cost * PER_MILLION;
  };
  const input = rate({ inputTokens: FEW });
  const output = rate({ outputTokens: FEW });
  if (input === undefined || output === undefined) return undefined;
  return {
    input,
    output,
    cacheRead: rate({ inputTokens: FEW, cacheReadTokens: FEW }) ?? input,
    cacheWrite: rate({ inputTokens: FEW, cacheWriteTokens: FEW }) ?? input,
  };
}
