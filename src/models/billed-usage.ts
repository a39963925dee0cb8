/** The usage of one answer; input counts include the cache, output counts include thinking. */
export interface BilledUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly webSearchRequests: number;
  readonly details?: BilledDetails;
}

/** Parts of a usage that have a price of their own, and how the call was served. */
export interface BilledDetails {
  readonly cacheWrite1hTokens?: number;
  readonly audioInputTokens?: number;
  /** Of the audio: what was read from the cache. */
  readonly audioCacheReadTokens?: number;
  readonly audioOutputTokens?: number;
  readonly imageOutputTokens?: number;
  readonly imageInputTokens?: number;
  readonly videoInputTokens?: number;
  readonly fileSearches?: number;
  readonly mapSearches?: number;
  /** Of the web searches: those of the tool's preview. */
  readonly previewSearches?: number;
  /** What is not counted in tokens. */
  readonly units?: readonly BilledUnits[];
  /** The passes that the whole is made of, those of similar length together. */
  readonly passes?: readonly PassUsage[];
  readonly tier?: string;
  readonly region?: string;
  /** What other models used beside all that. */
  readonly others?: readonly OtherUsage[];
}

/** The usage of another model of the same vendor, on behalf of an answer. */
export interface OtherUsage extends BilledUsage {
  readonly model: string;
}

/** An amount of something that has a price by the piece. */
export interface BilledUnits {
  readonly unit: 'audio_seconds' | 'cache_token_hours' | 'characters' | 'containers' | 'images' | 'video_seconds';
  readonly amount: number;
  /** Its quality and size, where the price goes by them. */
  readonly kind?: string;
}

/** Passes of a model over a conversation, whose prices go by the length of each. */
export interface PassUsage {
  readonly count: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly cacheWrite1hTokens: number;
}
