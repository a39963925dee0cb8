import type { JsonObject } from '../../base/json.ts';

/** Settings of a session, which win over those of its agent. */
export interface SessionSettings {
  readonly model: string | null;
  readonly maxIterations: number | null;
  readonly maxCostNanoUsd: number | null;
}

export function settingsJson({ model, maxIterations, maxCostNanoUsd }: SessionSettings): JsonObject {
  return { model, maxIterations, maxCostNanoUsd };
}

export function sessionSettings({ model, maxIterations, maxCostNanoUsd }: JsonObject): SessionSettings {
  return {
    model: typeof model === 'string' ? model : null,
    maxIterations: typeof maxIterations === 'number' ? maxIterations : null,
    maxCostNanoUsd: typeof maxCostNanoUsd === 'number' ? maxCostNanoUsd : null,
  };
}
