import { z } from 'zod';
import { parseShallow } from '../../base/json-limits.ts';
import { type BundleOptions, bundledModel } from '../../models/bundled.ts';
import { routed } from '../../models/facts/routed.ts';
import type { Catalogue } from '../define.ts';
import { type ListedModel, listedModels } from '../listing.ts';

const options: BundleOptions = { agent: 'omp', asOf: '2026-11-15', cliArgKey: '--model', deployment: 'hybrid', supportsLocalModels: true };

/** Thinking models only: under this agent thinking does not depend on the model. */
const facts = routed.filter(({ thinking }) => thinking !== undefined);

const models = facts.map((fact) => bundledModel(options, { fact, modelId: `${fact.provider}/${fact.id}` }));

/** The output of `omp models --json`, which lists the models that the user has keys for. */
const Listing = z.looseObject({
  models: z.array(
    z.looseObject({
      provider: z.string(),
      selector: z.string(),
      name: z.string().nullish(),
      contextWindow: z.number().nullish(),
      maxTokens: z.number().nullish(),
      reasoning: z.boolean().nullish(),
      thinking: z.array(z.string()).nullish(),
      input: z.array(z.string()).nullish(),
      cost: z.looseObject({ input: z.number(), output: z.number() }).nullish(),
    }),
  ),
});

function listed(output: string): ListedModel[] {
  const parsed = parseShallow(output);
  return Listing.parse(parsed.ok ? parsed.value : undefined).models.map((model) => ({
    modelId: model.selector,
    name: model.name ?? undefined,
    provider: model.provider,
    contextWindow: model.contextWindow ?? undefined,
    maxOutputTokens: model.maxTokens ?? undefined,
    price: model.cost ?? undefined,
    thinks: model.reasoning ?? undefined,
    levels: model.thinking ?? undefined,
    images: model.input?.includes('image'),
  }));
}

export const catalogue: Catalogue = {
  models,
  defaultModelId: null,
  modelsAsOf: options.asOf,
  modelsSource: 'the models that omp 18.2.3 lists, the price data of this package',
  discover: { args: ['models', '--json'], models: (output) => listedModels(options, models, listed(output)) },
};
