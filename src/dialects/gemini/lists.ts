import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import type { LoweredRequest, ModelLine } from '../dialect.ts';

export function tokenCount(count: number): JsonObject {
  return { totalTokens: count };
}

export function liftTokenCount(body: Json): number | undefined {
  return isJsonObject(body) && typeof body.totalTokens === 'number' ? body.totalTokens : undefined;
}

const METHODS = ['generateContent', 'streamGenerateContent', 'countTokens'];

export function lowerCount(lowered: LoweredRequest): LoweredRequest {
  const path = lowered.path.replace(/:[a-zA-Z]+(\?.*)?$/, ':countTokens');
  const begin = path.indexOf('/models/');
  const model = begin === -1 ? '' : path.slice(begin + 1, path.lastIndexOf(':'));
  return { ...lowered, path, body: { generateContentRequest: { model: decodeURIComponent(model), ...lowered.body } } };
}

export function modelList(models: readonly ModelLine[]): JsonObject {
  return {
    models: models.map(({ id, name, owner }) => ({
      name: `models/${id}`,
      baseModelId: id,
      version: '001',
      displayName: name,
      description: `Served by ${owner}`,
      supportedGenerationMethods: METHODS,
    })),
  };
}
