import type { ModelRow } from '../engine.ts';

/** Every model name is welcome and none differs. */
export const models: readonly ModelRow[] = [{ match: '*', defaultMaxTokens: 8192, traits: ['function-response-media'] }];
