/** Counts and circumstances that have a price of their own. Each is part of a count above it, or stands beside the tokens. */
export interface UsageDetails {
  /** Of what was written to the cache: what stays there for an hour. */
  readonly cacheWrite1hTokens?: number;
  readonly audioInputTokens?: number;
  /** Of the audio that was read: what came from the cache. */
  readonly audioCacheReadTokens?: number;
  readonly audioOutputTokens?: number;
  readonly imageOutputTokens?: number;
  readonly fileSearches?: number;
  /** Answers that rest on places of a map. */
  readonly mapSearches?: number;
  /** How the call was served, where that is not the usual way. */
  readonly tier?: 'batch' | 'flex' | 'priority' | 'fast';
  /** The only place in the world where it was served. */
  readonly region?: 'us';
  /** What the vendor tells and bills beside the counts of the answer itself. */
  readonly beside?: readonly SideUsage[];
}

/** What was used for an answer besides the model's own work on it: a pass that sums a long conversation up, or another model. */
export interface SideUsage {
  /** The model of the answer, unless it is told. */
  readonly model?: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens?: number;
  readonly cacheWriteTokens?: number;
  readonly cacheWrite1hTokens?: number;
  readonly imageInputTokens?: number;
  readonly imageOutputTokens?: number;
}

/** The details that say something; undefined where none does. */
export function usageDetails(details: { readonly [K in keyof UsageDetails]: UsageDetails[K] | undefined }): { details?: UsageDetails } {
  const told = Object.entries(details).filter(
    ([, value]) => value !== undefined && value !== 0 && !(Array.isArray(value) && value.length === 0),
  );
  return told.length === 0 ? {} : { details: Object.fromEntries(told) };
}

/**
 * Token counts of one answer. `inputTokens` counts everything the model read, cache included (vendors differ: Claude reports
 * the uncached rest, OpenAI and Gemini the total); `outputTokens` counts everything it wrote, thinking included.
 */
export interface IrUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly thinkingTokens: number;
  readonly webSearchRequests: number;
  /** Some of the counts are ours, because the engine did not say. */
  readonly estimated?: boolean;
  readonly details?: UsageDetails;
}

export const NO_USAGE: IrUsage = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  thinkingTokens: 0,
  webSearchRequests: 0,
};

/** The usage of two answers together. */
export function addUsage(one: IrUsage, two: IrUsage): IrUsage {
  const details = usageDetails({
    cacheWrite1hTokens: sum(one.details?.cacheWrite1hTokens, two.details?.cacheWrite1hTokens),
    audioInputTokens: sum(one.details?.audioInputTokens, two.details?.audioInputTokens),
    audioCacheReadTokens: sum(one.details?.audioCacheReadTokens, two.details?.audioCacheReadTokens),
    audioOutputTokens: sum(one.details?.audioOutputTokens, two.details?.audioOutputTokens),
    imageOutputTokens: sum(one.details?.imageOutputTokens, two.details?.imageOutputTokens),
    fileSearches: sum(one.details?.fileSearches, two.details?.fileSearches),
    mapSearches: sum(one.details?.mapSearches, two.details?.mapSearches),
    beside: [...(one.details?.beside ?? []), ...(two.details?.beside ?? [])],
    tier: two.details?.tier ?? one.details?.tier,
    region: two.details?.region ?? one.details?.region,
  });
  return {
    inputTokens: one.inputTokens + two.inputTokens,
    outputTokens: one.outputTokens + two.outputTokens,
    cacheReadTokens: one.cacheReadTokens + two.cacheReadTokens,
    cacheWriteTokens: one.cacheWriteTokens + two.cacheWriteTokens,
    thinkingTokens: one.thinkingTokens + two.thinkingTokens,
    webSearchRequests: one.webSearchRequests + two.webSearchRequests,
    ...(one.estimated === true || two.estimated === true ? { estimated: true } : {}),
    ...details,
  };
}

function sum(one: number | undefined, two: number | undefined): number | undefined {
  return one === undefined && two === undefined ? undefined : (one ?? 0) + (two ?? 0);
}
