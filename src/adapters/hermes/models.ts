import { type BundleOptions, bundledModel } from '../../models/bundled.ts';
import { anthropic } from '../../models/facts/anthropic.ts';
import { google } from '../../models/facts/google.ts';
import { openai } from '../../models/facts/openai.ts';
import type { ModelFact } from '../../models/model-fact.ts';
import type { Catalogue } from '../define.ts';

const options: BundleOptions = {
  agent: 'hermes',
  asOf: '2026-11-15',
  cliArgKey: '--model',
  deployment: 'hybrid',
  supportsLocalModels: true,
};

/** The agent has no thinking mode, whatever its model could do. */
function unthinking({ thinking: _thinks, ...fact }: ModelFact): ModelFact {
  return fact;
}

const models = [
  { fact: anthropic.opus46, modelId: 'anthropic/claude-opus-4.6' },
  { fact: anthropic.opus55, modelId: 'anthropic/claude-opus-5.5' },
  { fact: openai.astra6, modelId: 'openai/gpt-6-astra' },
  { fact: openai.sol6, modelId: 'openai/gpt-6-sol' },
  { fact: openai.luna6, modelId: 'openai/gpt-6-luna' },
  { fact: google.flash38, modelId: 'google/gemini-3.8-flash' },
].map(({ fact, modelId }) => bundledModel(options, { fact: unthinking(fact), modelId }));

export const catalogue: Catalogue = {
  models,
  defaultModelId: 'anthropic/claude-opus-4.6',
  modelsAsOf: options.asOf,
  modelsSource: 'the OpenRouter models that @earendil-works/pi-ai 0.87.1 lists',
  // Over ACP it would list them with a session that stays in the user's store; by default its models are those of OpenRouter.
  listing: { engine: 'openrouter', path: '/v1/models', thinks: false },
};
