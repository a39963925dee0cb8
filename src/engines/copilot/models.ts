import type { ModelRow } from '../engine.ts';

/** The plan decides which models there are; none needs a row of its own on the chat endpoint. */
export const models: readonly ModelRow[] = [];
