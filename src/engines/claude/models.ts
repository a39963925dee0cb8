import type { ModelRow } from '../engine.ts';

/** Everything after Opus 4.6: sampling is fixed, and thinking adapts by itself and takes no budget. */
const ADAPTIVE = [
  'claude-*-4-7*',
  'claude-*-4-8*',
  'claude-opus-5*',
  'claude-sonnet-5*',
  'claude-haiku-5*',
  'claude-fable-*',
  'claude-mythos-*',
];

/** Facts per model family; the vendor answers 400 to what stands under `lacks`. */
export const models: readonly ModelRow[] = [
  { match: '*', defaultMaxTokens: 8192, lacks: ['system_in_place'] },
  // Each of these models may write at least so much. Callers of other dialects who set no limit expect none, and Messages wants one.
  ...['claude-3-7-*', 'claude-*-4-*', ...ADAPTIVE].map((match): ModelRow => ({ match, defaultMaxTokens: 32_000 })),
  // Effort levels and adaptive thinking came with the models after these.
  ...['claude-3-7-*', 'claude-*-4-0', 'claude-*-4-2025*', 'claude-*-4-1*', 'claude-sonnet-4-5*', 'claude-haiku-4-5*'].map(
    (match): ModelRow => ({ match, lacks: ['effort'], traits: ['budget-thinking'] }),
  ),
  { match: 'claude-opus-4-5*', traits: ['budget-thinking', 'effort-to-high'] },
  ...['claude-*-4-6*', 'claude-mythos-preview*'].map((match): ModelRow => ({ match, traits: ['no-xhigh-effort'] })),
  ...['claude-*-4-1*', 'claude-*-4-5*', 'claude-*-4-6*'].map((match): ModelRow => ({ match, traits: ['temperature-or-top-p'] })),
  ...['claude-*-4-6*', ...ADAPTIVE].map((match): ModelRow => ({ match, lacks: ['prefill'] })),
  ...ADAPTIVE.map(
    (match): ModelRow => ({
      match,
      manifest: { temperature: 'unsupported', top_p: 'unsupported', top_k: 'unsupported' },
      lacks: ['temperature', 'top_p', 'top_k'],
      traits: ['adaptive-thinking'],
    }),
  ),
  { match: 'claude-3-5-*', lacks: ['thinking', 'effort'], manifest: { extended_thinking: 'unsupported' } },
  { match: 'claude-3-opus*', defaultMaxTokens: 4096, lacks: ['thinking', 'effort'], manifest: { extended_thinking: 'unsupported' } },
  { match: 'claude-3-haiku*', defaultMaxTokens: 4096, lacks: ['thinking', 'effort'], manifest: { extended_thinking: 'unsupported' } },
];
