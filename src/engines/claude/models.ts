import type { ModelRow } from '../engine.ts';

/** Facts per model family; the vendor answers 400 to what stands under `lacks`. */
export const models: readonly ModelRow[] = [
  { match: '*', defaultMaxTokens: 8192, lacks: ['system_in_place'] },
  { match: 'claude-3-5-*', lacks: ['thinking', 'effort'], manifest: { extended_thinking: 'unsupported' } },
  { match: 'claude-3-opus*', defaultMaxTokens: 4096, lacks: ['thinking', 'effort'], manifest: { extended_thinking: 'unsupported' } },
  { match: 'claude-3-haiku*', defaultMaxTokens: 4096, lacks: ['thinking', 'effort'], manifest: { extended_thinking: 'unsupported' } },
];
