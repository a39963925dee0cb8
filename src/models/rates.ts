/** The prices of tokens that an operator configures, in US dollars per million. */
export interface TokenRates {
  readonly input: number;
  readonly output: number;
  /** Default: the price of input. */
  readonly cacheRead?: number | undefined;
  readonly cacheWrite?: number | undefined;
}

/** Input counts include the cache. */
interface CountedTokens {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
}

const WORD = 'usd-per-million';
/** A dollar per million tokens is a thousand billionths of a dollar per token. */
const NANO_PER_TOKEN = 1000;

/** Rates as a price list's name: the journal then holds the price that was in force when the call was made, and the keeper bills it by that. */
export function ratesText({ input, output, cacheRead = input, cacheWrite = input }: TokenRates): string {
  return [WORD, input, output, cacheRead, cacheWrite].join(' ');
}

/** Whether a price list's name is such a text. */
export function isRates(prices: string): boolean {
  return prices.startsWith(`${WORD} `);
}

/** Cost in billionths of a dollar by rates as text; undefined where the text states none. */
export function costByRates(usage: CountedTokens, prices: string): number | undefined {
  const [word, input = Number.NaN, output = Number.NaN, cacheRead = Number.NaN, cacheWrite = Number.NaN] = prices
    .split(' ')
    .map((part, at) => (at === 0 ? Number(part === WORD) : Number(part)));
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage;
  const fresh = inputTokens - cacheReadTokens - cacheWriteTokens;
  const cost = (fresh * input + cacheReadTokens * cacheRead + cacheWriteTokens * cacheWrite + outputTokens * output) * NANO_PER_TOKEN;
  return word === 1 && Number.isFinite(cost) ? Math.round(cost) : undefined;
}
