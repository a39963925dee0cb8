import type { Json, JsonObject } from '../../base/json.ts';
import type { LoweredRequest } from '../dialect.ts';
import * as wire from './wire.ts';

export function tokenCount(count: number): JsonObject {
  return { data: { total_tokens: count } };
}

export function liftTokenCount(body: Json): number | undefined {
  const estimate = wire.TokenEstimate.safeParse(body);
  return estimate.success ? estimate.data.data.total_tokens : undefined;
}

export function lowerCount(lowered: LoweredRequest): LoweredRequest {
  const { model = '', messages = [] } = lowered.body;
  return { ...lowered, path: '/v1/tokenizers/estimate-token-count', body: { model, messages } };
}
