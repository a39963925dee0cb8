import type { JsonObject } from '../../../base/json.ts';
import type { SpawnPlan } from '../../adapter.ts';
import { windowOf } from './window.ts';
import { wireModel } from './wire.ts';

/**
 * The model of a run as pi, and agents that are built on it, want a model declared that their own lists do not have. Prices of an unknown model
 * are zero there, and the agent then reports no cost.
 */
export function declaredModel(plan: SpawnPlan, mostTokens?: number): JsonObject {
  const id = wireModel(plan);
  const { model } = plan;
  return {
    id,
    name: model?.displayName ?? id,
    reasoning: model?.supportsThinking ?? true,
    input: ['text', 'image'],
    contextWindow: windowOf(plan),
    maxTokens: mostTokens ?? model?.maxOutputTokens ?? 32_000,
    cost: {
      input: model?.inputPricePerMillion ?? 0,
      output: model?.outputPricePerMillion ?? 0,
      cacheRead: model?.cachedInputPricePerMillion ?? 0,
      cacheWrite: 0,
    },
  };
}
