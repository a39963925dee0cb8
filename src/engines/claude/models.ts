import type { ModelRow } from '../engine.ts';

/** Facts per model family; the vendor answers 400 to what stands under `lacks`. */
export const models: readonly ModelRow[] = [
  { match: '*', defaultMaxTokens: 8192, lacks: ['system_in_place'] },
  // Effort levels and adaptive thinking came with the models after these.
  ...['claude-3-7-*', 'claude-*-4-0', 'claude-*-4-2025*', 'claude-*-4-1*', 'claude-sonnet-4-5*', 'claude-haiku-4-5*'].map(
    (match): ModelRow => ({ match, lacks: ['effort'], traits: ['budget-thinking'] }),
  ),
  { match: 'claude-3-5-*', lacks: ['thinking', 'effort'], manifest: { extended_thinking: 'unsupported' } },
  { match: 'claude-3-opus*', defaultMaxTokens: 4096, lacks: ['thinking', 'effort'], manifest: { extended_thinking: 'unsupported' } },
  { match: 'claude-3-haiku*', defaultMaxTokens: 4096, lacks: ['thinking', 'effort'], manifest: { extended_thinking: 'unsupported' } },
];
