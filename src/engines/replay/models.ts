import type { ModelRow } from '../engine.ts';

/** Every model name is welcome: the recording decides. The defaults are those of the other engines, so that equal requests stay equal. */
export const models: readonly ModelRow[] = [{ match: '*', defaultMaxTokens: 8192 }];
