import type { Json, JsonObject } from '../../base/json.ts';
import * as wire from './wire.ts';

export function tokenCount(count: number): JsonObject {
  return { data: { total_tokens: count } };
}

export function liftTokenCount(body: Json): number | undefined {
  const estimate = wire.TokenEstimate.safeParse(body);
  return estimate.success ? estimate.data.data.total_tokens : undefined;
}
