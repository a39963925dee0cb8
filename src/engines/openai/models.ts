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
  { match: 'gpt-5.*', traits: ['effort-none'] },
  { match: 'gpt-3.5*', lacks: ['effort', 'thinking'] },
  { match: 'gpt-4*', lacks: ['effort', 'thinking'] },
];
