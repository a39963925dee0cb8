import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import type { LoweredRequest, ModelLine } from '../dialect.ts';

export function tokenCount(count: number): JsonObject {
  return { object: 'response.input_tokens', input_tokens: count };
}

export function liftTokenCount(body: Json): number | undefined {
  return isJsonObject(body) && typeof body.input_tokens === 'number' ? body.input_tokens : undefined;
}

/** Members that OpenAI's endpoint for counting takes; it refuses every other one. */
const COUNTED = ['model', 'input', 'instructions', 'tools', 'tool_choice', 'text', 'reasoning', 'parallel_tool_calls', 'truncation'];

export function lowerCount(lowered: LoweredRequest): LoweredRequest {
  const body = Object.fromEntries(Object.entries(lowered.body).filter(([key]) => COUNTED.includes(key)));
  return { ...lowered, path: '/v1/responses/input_tokens', body };
}

export function modelList(models: readonly ModelLine[]): JsonObject {
  return {
    object: 'list',
    data: models.map(({ id, owner, createdAtMs }) => ({ id, object: 'model', created: Math.floor(createdAtMs / 1000), owned_by: owner })),
  };
}
