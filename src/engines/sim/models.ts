import type { ModelRow } from '../engine.ts';

/** Every model name is welcome and none differs. It gives one answer, as the same question has no other. */
export const models: readonly ModelRow[] = [{ match: '*', defaultMaxTokens: 8192, traits: ['function-response-media'], lacks: ['count'] }];
