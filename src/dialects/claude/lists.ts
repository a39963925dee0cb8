import { isoTime } from '../../base/clock.ts';
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import type { ModelLine } from '../dialect.ts';

export function tokenCount(count: number): JsonObject {
  return { input_tokens: count };
}

export function liftTokenCount(body: Json): number | undefined {
  return isJsonObject(body) && typeof body.input_tokens === 'number' ? body.input_tokens : undefined;
}

export function modelList(models: readonly ModelLine[]): JsonObject {
  return {
    data: models.map(({ id, name, createdAtMs }) => ({ type: 'model', id, display_name: name, created_at: isoTime(createdAtMs) })),
    has_more: false,
    first_id: models[0]?.id ?? null,
    last_id: models.at(-1)?.id ?? null,
  };
}
