import type { ModelFact } from '../model-fact.ts';
import { anthropic } from './anthropic.ts';
import { google } from './google.ts';
import { openai } from './openai.ts';

/** The models of an agent that reaches every vendor: those that people choose for coding. */
export const routed: readonly ModelFact[] = [
  anthropic.opus55,
  anthropic.fable52,
  anthropic.sonnet55,
  anthropic.haiku55,
  anthropic.fable51,
  anthropic.sonnet5,
  anthropic.opus48,
  anthropic.sonnet45,
  anthropic.haiku45,
  openai.sol61,
  openai.terra61,
  openai.astra6,
  openai.sol6,
  openai.luna6,
  openai.gpt55,
  openai.gpt5,
  openai.gpt41,
  openai.gpt4o,
  google.argon4,
  google.pro31,
  google.flash38,
  google.pro25,
];
