import type { ReceiptUsage } from '../../contract/receipts/parts.ts';
import { type Engine, pricesOf } from '../../engines/engine.ts';
import { findEngine } from '../../engines/index.ts';
import { billedUsage } from '../../models/billed.ts';
import type { BilledUsage } from '../../models/billed-usage.ts';

/** The most that a call may use, and how it asks to be served. */
interface MostUsed {
  readonly input: number;
  readonly output: number;
  readonly searches?: number;
  readonly hourCache?: boolean | undefined;
  readonly ways?: readonly string[] | undefined;
}

/** The price of calls to one model of an engine, in billionths of a US dollar; undefined where nobody knows it. */
export interface CallPrice {
  /** Of the most that a call may use. */
  most(use: MostUsed): number | undefined;
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
    return prices === undefined ? undefined : callPrice(presentPricer(model, prices));
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

type Pricer = (usage: BilledUsage) => number | undefined;

function callPrice(price: Pricer): CallPrice {
  const factors = new Map<string, number>();
  const factorOf = (way: string): number => {
    const known = factors.get(way);
    if (known !== undefined) return known;
    const factor = wayFactor(price, way);
    // Words of callers: those that cost nothing more are not remembered.
    if (factor > 1) factors.set(way, factor);
    return factor;
  };
  let hourCost: number | undefined;
  return {
    most: ({ input, output, searches = 0, hourCache, ways }) => {
      // Writing into a cache costs more than reading nothing from it.
      const written = price({ ...NO_USE, inputTokens: input, outputTokens: output, cacheWriteTokens: input });
      if (written === undefined) return undefined;
      let most = Math.max(written, price({ ...NO_USE, inputTokens: input, outputTokens: output }) ?? 0);
      if (hourCache === true) {
        hourCost ??= hourCacheCost(price);
        most += hourCost * input;
      }
      if (ways !== undefined) for (const way of ways) most *= factorOf(way);
      return searches === 0 ? most : most + (price({ ...NO_USE, webSearchRequests: searches }) ?? 0);
    },
    of: (usage) => price(billedUsage(usage)),
  };
}

const NO_USE: BilledUsage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, webSearchRequests: 0 };
/** So many tokens show a price well enough. */
const SOME = 10_000;

/** How much dearer a call is that is served in this way; 1 where it is not. */
function wayFactor(price: Pricer, way: string): number {
  const usual = price({ ...NO_USE, outputTokens: SOME }) ?? 0;
  if (usual === 0) return 1;
  const dearest = Math.max(...[{ tier: way }, { region: way }].map((details) => price({ ...NO_USE, outputTokens: SOME, details }) ?? 0));
  return Math.max(1, dearest / usual);
}

/** What a token costs in a cache of an hour, beyond one in the usual cache. */
function hourCacheCost(price: Pricer): number {
  const written = { ...NO_USE, inputTokens: SOME, cacheWriteTokens: SOME };
  const usual = price(written) ?? 0;
  return Math.max(0, (price({ ...written, details: { cacheWrite1hTokens: SOME } }) ?? 0) - usual) / SOME;
}
