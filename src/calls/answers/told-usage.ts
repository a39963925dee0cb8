import type { ReceiptUsage } from '../../contract/receipts/parts.ts';
import type { IrUsage, UsageDetails } from '../../ir/usage.ts';

/** No call uses as many of anything. */
const MOST = 1_000_000_000;

/**
 * The usage that an engine tells, as receipts, budgets and limits count it. Numbers that no usage can have (negative, in parts, beyond all measure)
 * count as none, and the usage as estimated: one wrong answer of an engine must not decide over a budget.
 */
export function toldUsage(usage: IrUsage | undefined): ReceiptUsage | null {
  if (usage === undefined) return null;
  const input = countOf(usage.inputTokens);
  const cacheRead = Math.min(countOf(usage.cacheReadTokens), input);
  const told = {
    input_tokens: input,
    output_tokens: countOf(usage.outputTokens),
    cache_read_tokens: cacheRead,
    cache_write_tokens: Math.min(countOf(usage.cacheWriteTokens), input - cacheRead),
    thinking_tokens: countOf(usage.thinkingTokens),
    web_search_requests: countOf(usage.webSearchRequests),
  };
  const isWrong = told.input_tokens !== usage.inputTokens || told.output_tokens !== usage.outputTokens;
  return {
    ...told,
    estimated: isWrong || (usage.estimated ?? false),
    ...(usage.details === undefined ? {} : { details: detailsOf(usage.details) }),
  };
}

function countOf(told: number): number {
  return told >= 0 && told <= MOST ? Math.floor(told) : 0;
}

function detailsOf(details: UsageDetails): NonNullable<ReceiptUsage['details']> {
  const { cacheWrite1hTokens, audioInputTokens, audioCacheReadTokens, audioOutputTokens, imageOutputTokens, fileSearches, tier, region } =
    details;
  return {
    ...(audioCacheReadTokens === undefined ? {} : { audio_cache_read_tokens: countOf(audioCacheReadTokens) }),
    ...(audioInputTokens === undefined ? {} : { audio_input_tokens: countOf(audioInputTokens) }),
    ...(audioOutputTokens === undefined ? {} : { audio_output_tokens: countOf(audioOutputTokens) }),
    ...(cacheWrite1hTokens === undefined ? {} : { cache_write_1h_tokens: countOf(cacheWrite1hTokens) }),
    ...(fileSearches === undefined ? {} : { file_searches: countOf(fileSearches) }),
    ...(imageOutputTokens === undefined ? {} : { image_output_tokens: countOf(imageOutputTokens) }),
    ...(region === undefined ? {} : { region }),
    ...(tier === undefined ? {} : { tier }),
  };
}
