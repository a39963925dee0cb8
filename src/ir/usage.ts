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
}

export const NO_USAGE: IrUsage = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  thinkingTokens: 0,
  webSearchRequests: 0,
};
