import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import type { ModelLine } from '../dialect.ts';

export function tokenCount(count: number): JsonObject {
  return { object: 'response.input_tokens', input_tokens: count };
}

export function liftTokenCount(body: Json): number | undefined {
  return isJsonObject(body) && typeof body.input_tokens === 'number' ? body.input_tokens : undefined;
}

export function modelList(models: readonly ModelLine[]): JsonObject {
  return {
    object: 'list',
    data: models.map(({ id, owner, createdAtMs }) => ({ id, object: 'model', created: Math.floor(createdAtMs / 1000), owned_by: owner })),
  };
}
