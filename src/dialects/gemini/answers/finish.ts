import { isJsonObject, type Json, type JsonObject, listIn } from '../../../base/json.ts';
import type { FinishReason } from '../../../ir/response.ts';
import { type IrUsage, type UsageDetails, usageDetails } from '../../../ir/usage.ts';

/** `finishReason` in neutral words; some deployments write its number. A turn with calls ends in STOP, too. */
export const FINISH: Readonly<Record<string, FinishReason>> = {
  STOP: 'stop',
  '1': 'stop',
  MAX_TOKENS: 'length',
  '2': 'length',
  SAFETY: 'content-filter',
  '3': 'content-filter',
  RECITATION: 'content-filter',
  '4': 'content-filter',
  BLOCKLIST: 'content-filter',
  PROHIBITED_CONTENT: 'content-filter',
  SPII: 'content-filter',
  MODEL_ARMOR: 'content-filter',
  IMAGE_SAFETY: 'content-filter',
  IMAGE_PROHIBITED_CONTENT: 'content-filter',
  IMAGE_RECITATION: 'content-filter',
};

/** Reasons that leave the caller without an answer it could use. */
export const FAILURES: ReadonlySet<string> = new Set([
  'MALFORMED_FUNCTION_CALL',
  'MALFORMED_RESPONSE',
  'MISSING_THOUGHT_SIGNATURE',
  'UNEXPECTED_TOOL_CALL',
  'TOO_MANY_TOOL_CALLS',
  'LANGUAGE',
  'OTHER',
  'IMAGE_OTHER',
  'NO_IMAGE',
]);

export const FINISH_REASON: Readonly<Record<FinishReason, string>> = {
  stop: 'STOP',
  'stop-sequence': 'STOP',
  length: 'MAX_TOKENS',
  'tool-calls': 'STOP',
  refusal: 'SAFETY',
  'content-filter': 'SAFETY',
  // A paused turn is not finished; the caller must see that something is missing.
  pause: 'MAX_TOKENS',
  'context-window': 'MAX_TOKENS',
  error: 'OTHER',
};

function count(value: Json | undefined): number {
  return typeof value === 'number' ? value : 0;
}

/** How a call was served, as Vertex AI and the Gemini API name it. */
const TIERS: Readonly<Record<string, UsageDetails['tier']>> = {
  on_demand_priority: 'priority',
  on_demand_flex: 'flex',
  priority: 'priority',
  flex: 'flex',
};

/** Gemini counts thoughts beside the candidates and what its tools read beside the prompt; the cached part is inside the prompt. */
export function liftUsage(usage: JsonObject | undefined, grounding?: Json): IrUsage {
  const thinkingTokens = count(usage?.thoughtsTokenCount);
  return {
    inputTokens: count(usage?.promptTokenCount) + count(usage?.toolUsePromptTokenCount),
    outputTokens: count(usage?.candidatesTokenCount) + thinkingTokens,
    cacheReadTokens: count(usage?.cachedContentTokenCount),
    cacheWriteTokens: 0,
    thinkingTokens,
    webSearchRequests: searches(grounding),
    ...usageDetails({
      audioInputTokens: modality(usage?.promptTokensDetails, 'AUDIO'),
      audioCacheReadTokens: modality(usage?.cacheTokensDetails, 'AUDIO'),
      audioOutputTokens: modality(usage?.candidatesTokensDetails, 'AUDIO'),
      imageOutputTokens: modality(usage?.candidatesTokensDetails, 'IMAGE'),
      mapSearches: isJsonObject(grounding) && listIn(grounding.groundingChunks).some(isPlace) ? 1 : 0,
      tier: TIERS[String(usage?.trafficType ?? usage?.serviceTier).toLowerCase()],
    }),
  };
}

/** Tokens of one kind of medium. */
function modality(details: Json | undefined, name: string): number {
  if (!Array.isArray(details)) return 0;
  return details.reduce((sum: number, one: Json) => sum + (isJsonObject(one) && one.modality === name ? count(one.tokenCount) : 0), 0);
}

function isPlace(chunk: Json): boolean {
  return isJsonObject(chunk) && chunk.maps !== undefined;
}

/** Every query is a search; a grounded answer that does not list its queries had at least one. */
function searches(grounding: Json | undefined): number {
  if (!isJsonObject(grounding)) return 0;
  const { webSearchQueries: queries, groundingChunks: chunks } = grounding;
  if (Array.isArray(queries)) return queries.length;
  return Array.isArray(chunks) && chunks.some((chunk: Json) => isJsonObject(chunk) && chunk.web !== undefined) ? 1 : 0;
}

function lowerModalities({ audioInputTokens, audioCacheReadTokens, audioOutputTokens, imageOutputTokens }: UsageDetails = {}): JsonObject {
  const of = (modality: string, tokenCount: number | undefined): JsonObject[] =>
    tokenCount === undefined ? [] : [{ modality, tokenCount }];
  const read = of('AUDIO', audioInputTokens);
  const cached = of('AUDIO', audioCacheReadTokens);
  const written = [...of('AUDIO', audioOutputTokens), ...of('IMAGE', imageOutputTokens)];
  return {
    ...(read.length === 0 ? {} : { promptTokensDetails: read }),
    ...(cached.length === 0 ? {} : { cacheTokensDetails: cached }),
    ...(written.length === 0 ? {} : { candidatesTokensDetails: written }),
  };
}

export function lowerUsage(usage: IrUsage): JsonObject {
  return {
    promptTokenCount: usage.inputTokens,
    candidatesTokenCount: Math.max(0, usage.outputTokens - usage.thinkingTokens),
    totalTokenCount: usage.inputTokens + usage.outputTokens,
    ...(usage.cacheReadTokens > 0 ? { cachedContentTokenCount: usage.cacheReadTokens } : {}),
    ...(usage.thinkingTokens > 0 ? { thoughtsTokenCount: usage.thinkingTokens } : {}),
    ...lowerModalities(usage.details),
  };
}
