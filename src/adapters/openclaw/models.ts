import { z } from 'zod';
import { parseShallow } from '../../base/json-limits.ts';
import { type BundleOptions, bundledModel } from '../../models/bundled.ts';
import { anthropic } from '../../models/facts/anthropic.ts';
import { google } from '../../models/facts/google.ts';
import { openai } from '../../models/facts/openai.ts';
import type { Catalogue } from '../define.ts';
import { type ListedModel, listedModels } from '../listing.ts';

const options: BundleOptions = {
  agent: 'openclaw',
  asOf: '2026-11-15',
  cliArgKey: '--model',
  deployment: 'hybrid',
  supportsLocalModels: true,
};

const facts = [
  anthropic.opus55,
  anthropic.sonnet5,
  anthropic.haiku45,
  openai.astra6,
  openai.sol6,
  openai.luna6,
  openai.gpt41,
  google.pro31,
  google.flash38,
];

const models = facts.map((fact) => bundledModel(options, { fact, modelId: `${fact.provider}/${fact.id}` }));

/** The output of `openclaw models list --all --json`. */
const Listing = z.looseObject({
  models: z.array(
    z.looseObject({ key: z.string(), name: z.string().nullish(), input: z.string().nullish(), contextWindow: z.number().nullish() }),
  ),
});

function listed(output: string): ListedModel[] {
  const parsed = parseShallow(output);
  return Listing.parse(parsed.ok ? parsed.value : undefined).models.map((model) => ({
    modelId: model.key,
    name: model.name ?? undefined,
    provider: model.key.split('/')[0],
    contextWindow: model.contextWindow ?? undefined,
    images: model.input?.includes('image'),
  }));
}

export const catalogue: Catalogue = {
  models,
  defaultModelId: null,
  modelsAsOf: options.asOf,
  modelsSource: 'the vendors’ model pages, the price data of this package',
  discover: { args: ['models', 'list', '--all', '--json'], models: (output) => listedModels(options, models, listed(output)) },
};
