import type { ModelRow } from '../engine.ts';

/** Reasoning models take neither stop sequences nor sampling parameters. */
export const models: readonly ModelRow[] = [
  {
    match: 'o1*',
    lacks: ['stop_sequences', 'temperature', 'top_p', 'frequency_penalty', 'presence_penalty', 'logprobs'],
    traits: ['reasoning'],
  },
  {
    match: 'o3*',
    lacks: ['stop_sequences', 'temperature', 'top_p', 'frequency_penalty', 'presence_penalty', 'logprobs'],
    traits: ['reasoning'],
  },
  {
    match: 'o4*',
    lacks: ['stop_sequences', 'temperature', 'top_p', 'frequency_penalty', 'presence_penalty', 'logprobs'],
    traits: ['reasoning'],
  },
  {
    match: 'gpt-5*',
    lacks: ['stop_sequences', 'temperature', 'top_p', 'frequency_penalty', 'presence_penalty', 'logprobs'],
    traits: ['reasoning'],
  },
  { match: 'gpt-5.*', traits: ['effort-none'] },
  { match: 'gpt-3.5*', lacks: ['effort', 'thinking'] },
  { match: 'gpt-4*', lacks: ['effort', 'thinking'] },
];
