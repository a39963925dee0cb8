import { isoTime } from '../../base/clock.ts';
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import type { LoweredRequest, ModelLine } from '../dialect.ts';

export function tokenCount(count: number): JsonObject {
  return { input_tokens: count };
}

export function liftTokenCount(body: Json): number | undefined {
  return isJsonObject(body) && typeof body.input_tokens === 'number' ? body.input_tokens : undefined;
}

/** Members that say how to answer; counting takes only what is read. */
const ANSWER_ONLY = ['max_tokens', 'stream', 'stop_sequences', 'temperature', 'top_p', 'top_k', 'metadata', 'service_tier'];

export function lowerCount(lowered: LoweredRequest): LoweredRequest {
  const body = Object.fromEntries(Object.entries(lowered.body).filter(([key]) => !ANSWER_ONLY.includes(key)));
  return { ...lowered, path: '/v1/messages/count_tokens', body };
}

export function modelList(models: readonly ModelLine[]): JsonObject {
  return {
    data: models.map(({ id, name, createdAtMs }) => ({ type: 'model', id, display_name: name, created_at: isoTime(createdAtMs) })),
    has_more: false,
    first_id: models[0]?.id ?? null,
    last_id: models.at(-1)?.id ?? null,
  };
}
