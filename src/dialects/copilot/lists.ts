import type { JsonObject } from '../../base/json.ts';
import type { ModelLine } from '../dialect.ts';

/** Clients pick by `capabilities.type` and `model_picker_enabled`. */
export function modelList(models: readonly ModelLine[]): JsonObject {
  return {
    object: 'list',
    data: models.map(({ id, name, owner }) => ({
      id,
      object: 'model',
      name,
      vendor: owner,
      version: id,
      model_picker_enabled: true,
      preview: false,
      capabilities: { type: 'chat', family: id, object: 'model_capabilities', supports: { streaming: true, tool_calls: true } },
      supported_endpoints: ['/chat/completions'],
    })),
  };
}
