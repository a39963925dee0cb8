import { z } from 'zod';
import { parseShallow } from '../../base/json-limits.ts';
import { type BundleOptions, bundledModel } from '../../models/bundled.ts';
import { routed } from '../../models/facts/routed.ts';
import type { Catalogue } from '../define.ts';
import { type ListedModel, listedModels } from '../listing.ts';

const options: BundleOptions = { agent: 'opencode', asOf: '2026-11-15', cliArgKey: '-m', deployment: 'hybrid', supportsLocalModels: true };

const models = routed.map((fact) => bundledModel(options, { fact, modelId: `${fact.provider}/${fact.id}` }));

/** One model of `opencode models --verbose`, below a line with its full name. */
const Entry = z.looseObject({
  id: z.string(),
  providerID: z.string(),
  name: z.string().nullish(),
  status: z.string().nullish(),
  cost: z.looseObject({ input: z.number(), output: z.number() }).nullish(),
  limit: z.looseObject({ context: z.number(), output: z.number() }).nullish(),
  capabilities: z
    .looseObject({
      reasoning: z.boolean().nullish(),
      toolcall: z.boolean().nullish(),
      input: z.looseObject({ image: z.boolean().nullish() }).nullish(),
    })
    .nullish(),
});

function listed(output: string): ListedModel[] {
  // Objects are printed over many lines, each beginning and ending at the margin.
  return output.split(/^(?=\{$)/m).flatMap((piece) => {
    const parsed = parseShallow(piece.slice(0, piece.search(/^\}$/m) + 1));
    const entry = Entry.safeParse(parsed.ok ? parsed.value : undefined);
    if (!entry.success || entry.data.capabilities?.toolcall !== true) return [];
    const { id, providerID, name, cost, limit, capabilities } = entry.data;
    return [
      {
        modelId: `${providerID}/${id}`,
        name: name ?? undefined,
        provider: providerID,
        contextWindow: limit?.context,
        maxOutputTokens: limit?.output,
        price: cost ?? undefined,
        thinks: capabilities.reasoning ?? undefined,
        images: capabilities.input?.image ?? undefined,
      },
    ];
  });
}

export const catalogue: Catalogue = {
  models,
  defaultModelId: null,
  modelsAsOf: options.asOf,
  modelsSource: 'opencode models of 1.18.33, the vendors’ model pages, the price data of this package',
  discover: { args: ['models', '--verbose'], models: (output) => listedModels(options, models, listed(output)) },
};
