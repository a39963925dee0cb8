import { type BundleOptions, bundledModel } from '../../models/bundled.ts';
import { routed } from '../../models/facts/routed.ts';
import type { Catalogue } from '../define.ts';
import { type ListedModel, listedModels } from '../listing.ts';

const options: BundleOptions = { agent: 'pi', asOf: '2026-11-20', cliArgKey: '--model', deployment: 'hybrid', supportsLocalModels: true };

const models = routed.map((fact) => bundledModel(options, { fact, modelId: `${fact.provider}/${fact.id}` }));

const SIZES: Readonly<Record<string, number>> = { K: 1000, M: 1_000_000 };

function tokens(text: string): number | undefined {
  const [, number, size = ''] = /^([\d.]+)([KM]?)$/.exec(text) ?? [];
  return number === undefined ? undefined : Math.round(Number(number) * (SIZES[size] ?? 1));
}

/** The table of `pi --list-models`: provider, model, context, max-out, thinking, images. It lists what the user has keys for. */
function listed(output: string): ListedModel[] {
  return output.split('\n').flatMap((line) => {
    const [provider, model, context = '', most = '', thinking, images] = line.trim().split(/\s+/);
    if (provider === undefined || model === undefined || tokens(context) === undefined) return [];
    return [
      {
        modelId: `${provider}/${model}`,
        provider,
        contextWindow: tokens(context),
        maxOutputTokens: tokens(most),
        thinks: thinking === 'yes',
        images: images === 'yes',
      },
    ];
  });
}

export const catalogue: Catalogue = {
  models,
  defaultModelId: null,
  modelsAsOf: options.asOf,
  modelsSource: 'the models that pi 1.5.2 lists, the price data of this package',
  discover: { args: ['--list-models'], models: (output) => listedModels(options, models, listed(output)) },
};
