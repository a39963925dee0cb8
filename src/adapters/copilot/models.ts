import { type BundleOptions, bundledModel } from '../../models/bundled.ts';
import { anthropic } from '../../models/facts/anthropic.ts';
import { google } from '../../models/facts/google.ts';
import { openai } from '../../models/facts/openai.ts';
import type { Catalogue } from '../define.ts';

/** The plan counts requests, not tokens. */
const options: BundleOptions = { agent: 'copilot', asOf: '2026-11-15', cliArgKey: '--model', deployment: 'hosted', unpriced: true };

const models = [
  { fact: anthropic.opus55, modelId: 'claude-opus-5.5' },
  { fact: anthropic.sonnet5 },
  { fact: anthropic.fable51, modelId: 'claude-fable-5.1' },
  { fact: anthropic.haiku45, modelId: 'claude-haiku-4.5' },
  { fact: openai.astra6 },
  { fact: openai.sol6 },
  { fact: openai.luna6 },
  { fact: openai.gpt5mini },
  { fact: openai.gpt41 },
  { fact: google.flash38 },
].map((row) => bundledModel(options, row));

export const catalogue: Catalogue = {
  models,
  defaultModelId: null,
  modelsAsOf: options.asOf,
  modelsSource: 'the Copilot models that @earendil-works/pi-ai 0.87.1 lists',
  listing: { engine: 'copilot', path: '/models' },
};
