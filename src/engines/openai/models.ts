import type { ModelRow } from '../engine.ts';

/** Reasoning models take neither stop sequences nor sampling parameters, and tell no logprobs. */
const REASONING: Omit<ModelRow, 'match'> = {
  manifest: { logprobs: 'unsupported', frequency_penalty: 'unsupported', presence_penalty: 'unsupported' },
  lacks: ['stop_sequences', 'temperature', 'top_p', 'frequency_penalty', 'presence_penalty', 'logprobs'],
  traits: ['reasoning'],
};

export const models: readonly ModelRow[] = [
  { match: 'o1*', ...REASONING },
  { match: 'o3*', ...REASONING },
  { match: 'o4*', ...REASONING },
  { match: 'gpt-5*', ...REASONING },
  { match: 'gpt-6*', ...REASONING },
  ...['gpt-5', 'gpt-5-2025*', 'gpt-5-mini*', 'gpt-5-nano*'].map((match): ModelRow => ({ match, traits: ['effort-minimal'] })),
  ...['gpt-5.*', 'gpt-6-sol*', 'gpt-6-luna*', 'gpt-6.*'].map((match): ModelRow => ({ match, traits: ['effort-none'] })),
  ...['gpt-5.2*', 'gpt-5.3*', 'gpt-5.4*', 'gpt-5.5*', 'gpt-5.6*', 'gpt-6*'].map((match): ModelRow => ({ match, traits: ['effort-xhigh'] })),
  { match: 'gpt-3.5*', lacks: ['effort', 'thinking'] },
  { match: 'gpt-4*', lacks: ['effort', 'thinking'] },
];
