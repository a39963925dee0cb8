import type { JsonObject } from '../../../base/json.ts';
import type { ModelLine } from '../../dialect.ts';

export function modelList(models: readonly ModelLine[]): JsonObject {
  return {
    object: 'list',
    data: models.map(({ id, owner, createdAtMs }) => ({
      id,
      object: 'model',
      created: Math.floor(createdAtMs / 1000),
      owned_by: owner,
    })),
  };
}

/** The wire has no endpoint for it; this is the word its usage has for the same number. */
export function tokenCount(count: number): JsonObject {
  return { prompt_tokens: count };
}

export function noTokenCount(): undefined {
  return undefined;
}
