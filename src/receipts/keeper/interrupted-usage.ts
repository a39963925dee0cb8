import { tokensIn } from '../../ir/token-estimate.ts';
import { jsonText } from '../journal/fact-texts.ts';
import type { CloseTexts, OpenTexts } from '../journal/texts.ts';
import { usageText } from '../journal/writings.ts';
import { memberNumber, parsedText } from '../seal/canonical-text.ts';
import { upstreamModel } from './build.ts';
import { loadPricer } from './pricing.ts';

/** The list that the calls of an engine are priced by, by the id of the engine. */
export type PriceLists = Readonly<Record<string, string>>;

/** Larger bodies hold media, whose bytes say nothing of their tokens. */
const MOST_INPUT = 200_000;
const COUNTING = /count_?tokens/i;

/**
 * The end of a call that broke off with its process, with about what it has used: nobody has heard the engine's own count, and a call that counted
 * nothing would let a budget be spent again after each kill. Its input is read off the size of the request; each event of a stream that had been
 * recorded is a token at least.
 */
export async function withEstimate(open: OpenTexts, close: CloseTexts, events: number, lists: PriceLists): Promise<CloseTexts> {
  const input = asksModel(open) ? tokensSent(open) : 0;
  if (input === 0) return close;
  const usage = usageText({ ...NO_USAGE, input_tokens: input, output_tokens: events });
  const engine = parsedText(open.get('engine'));
  const prices = typeof engine === 'string' ? lists[engine] : undefined;
  if (prices === undefined) return close.with({ usage });
  const used = close.with({ usage, prices: jsonText(prices) });
  const pricer = await loadPricer();
  return used.with({ cost: pricer(used, upstreamModel(open, used)) });
}

const NO_USAGE = { cache_read_tokens: 0, cache_write_tokens: 0, thinking_tokens: 0, web_search_requests: 0, estimated: true } as const;

/** A call of a model: runs and turns are made of calls, and of raw calls nobody knows the model. */
function asksModel(open: OpenTexts): boolean {
  const plane = open.get('plane');
  const isCall = plane === '"gateway"' || (plane === '"agent"' && open.get('mode') !== 'null');
  const isNamed = open.get('upstreamModel') !== 'null' || open.get('requestedModel') !== 'null';
  return isCall && isNamed && !COUNTING.test(open.get('task'));
}

function tokensSent(open: OpenTexts): number {
  const bytes = memberNumber(open.get('upstreamRequest'), 'bytes') ?? memberNumber(open.get('request'), 'bytes') ?? 0;
  return Math.min(MOST_INPUT, tokensIn(bytes));
}
