import { z } from 'zod';
import { parseShallow } from '../../base/json-limits.ts';
import { type BundleOptions, bundledModel } from '../../models/bundled.ts';
import { openai } from '../../models/facts/openai.ts';
import type { Catalogue } from '../define.ts';
import { type ListedModel, listedModels } from '../listing.ts';

const options: BundleOptions = { agent: 'codex', asOf: '2026-11-20', cliArgKey: '-m', deployment: 'hosted', supportsLocalModels: true };

/** Codex keeps a smaller window than the vendor allows. */
const window = { contextWindow: 272_000 };
/** No longer in its list; the model it proposes to users of older ones. */
const gone = { deprecated: true, successorModelId: 'gpt-6-sol' };

const models = [
  { fact: openai.sol61, overrides: window },
  { fact: openai.astra6, overrides: window },
  { fact: openai.sol6, overrides: window },
  { fact: openai.luna6, overrides: window },
  { fact: openai.sol56, overrides: window },
  { fact: openai.terra61, overrides: { contextWindow: 500_000 } },
  { fact: openai.terra56, overrides: window },
  { fact: openai.luna56, overrides: window },
  { fact: openai.gpt55, overrides: window },
  { fact: openai.o3, overrides: gone },
  { fact: openai.o4mini, overrides: gone },
  { fact: openai.codexMini, overrides: gone },
].map((row) => bundledModel(options, row));

/** The output of `codex debug models`. */
const Listing = z.looseObject({
  models: z.array(
    z.looseObject({
      slug: z.string(),
      display_name: z.string().nullish(),
      visibility: z.string().nullish(),
      context_window: z.number().nullish(),
      supported_reasoning_levels: z.array(z.looseObject({ effort: z.string() })).nullish(),
      input_modalities: z.array(z.string()).nullish(),
    }),
  ),
});

function listed(output: string): ListedModel[] {
  const parsed = parseShallow(output);
  return Listing.parse(parsed.ok ? parsed.value : undefined)
    .models.filter(({ visibility }) => visibility !== 'hide')
    .map((model) => ({
      modelId: model.slug,
      name: model.display_name ?? undefined,
      provider: 'openai',
      contextWindow: model.context_window ?? undefined,
      // Every model takes max, as high where it has no such tier.
      levels: [...(model.supported_reasoning_levels ?? []).map(({ effort }) => effort), 'max'],
      images: model.input_modalities?.includes('image'),
    }));
}

export const catalogue: Catalogue = {
  models,
  defaultModelId: 'gpt-6.1-sol',
  modelsAsOf: options.asOf,
  modelsSource: 'codex debug models of 0.169.0, the price data of this package',
  discover: { args: ['debug', 'models'], models: (output) => listedModels(options, models, listed(output)) },
};
